import { appendFile } from 'node:fs/promises';
import { type StepEntry, stepEntrySchema } from '../../../agents/records/recordSchemas.ts';
import { parseLines } from '../protocol/jsonLines.ts';
import { readEvents, readIfThere } from './runFiles.ts';
import type { RunFolder } from './runFolder.ts';

/**
 * The calls of tools of a run, for the recording of one that continues it, so that none runs twice.
 *
 * @param isWhole whether those of visits that had ended count too: the run continues from its last checkpoint, which may be before them. A run
 * that starts again at a chosen step repeats what had ended.
 */
export async function readCarriedSteps(
  from: RunFolder,
  { isWhole }: { readonly isWhole: boolean },
): Promise<readonly StepEntry[]> {
  const entries = parseLines(await readIfThere(from.recording), (value) => stepEntrySchema.safeParse(value).data);
  if (entries.length === 0) return entries;
  const ended = new Set<string>();
  for (const event of isWhole ? [] : await readEvents(from)) {
    if (event.type === 'node-end') ended.add(`${event.path} ${event.visit}`);
  }
  return entries.filter(({ path, visit }) => !ended.has(`${path} ${visit}`));
}

/** Adds such calls to the recording of a run that has not started. */
export async function carrySteps(steps: readonly StepEntry[], to: Pick<RunFolder, 'recording'>): Promise<void> {
  if (steps.length === 0) return;
  await appendFile(to.recording, steps.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
}
