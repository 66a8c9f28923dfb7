import type { Selection } from '../../workspace/select/selection.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';
import { describeExclusions, describeSize, selectionAsJson } from './selectionSummary.ts';
import {
  describeWithFlag,
  estimateAsJson,
  type DryRunFindings,
  exitOfFindings,
  findingsAsJson,
} from './submitPreflight.ts';

/** Answers a dry run. @param jobs the jobs of a sweep, for JSON. */
export function showSelection(
  selection: Selection,
  dryRun: DryRunFindings,
  { terminal }: Context,
  jobs?: readonly object[],
): number {
  const exit = exitOfFindings(dryRun.findings);
  const estimate = estimateAsJson(dryRun);
  terminal.json({ ...selectionAsJson(selection, findingsAsJson(dryRun)), ...estimate, ...(jobs && { jobs }) });
  if (!terminal.isJson) for (const { path } of selection.files) terminal.answer(path);
  if (!terminal.isJson) for (const line of describeExclusions(selection)) terminal.note(line);
  for (const finding of dryRun.findings) terminal.note(`  ${finding.severity}: ${describeWithFlag(finding)}`);
  if (dryRun.unchecked !== undefined) terminal.note(dryRun.unchecked);
  const outcome =
    exit === EXIT.done ? 'would be sent. Nothing was sent.' : 'were selected, but the service would refuse the job.';
  if (!terminal.isJson) terminal.note(`${describeSize(selection)} ${outcome}`);
  return exit;
}
