import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathInside } from '../../core/files/pathInside.ts';
import { FlowJob, isFlowScript, withFlowRuntime } from '../../flows/run/job/flowJob.ts';
import type { SubmitPlan } from '../../jobs/submit/plan.ts';
import { scriptArguments, scriptPath } from '../../jobs/submit/script.ts';
import type { Selection } from '../../workspace/select/selection.ts';
import type { Services } from '../services/services.ts';
import type { SubmitArguments } from './submitArguments.ts';

type FlowRuntime = Services['flowRuntime'];

/** The selection, with the flow runtime added if the script is a flow file. */
export async function withRuntime({ runner }: FlowRuntime, selection: Selection, script: string): Promise<Selection> {
  return (await isFlow(selection, script)) ? withFlowRuntime(selection, runner) : selection;
}

/** Prepares a flow file and its runtime for sending; undefined for any other script. */
export async function prepareFlow(
  { flowRuntime }: { readonly flowRuntime: FlowRuntime },
  { selection, draft: { script } }: Pick<SubmitPlan, 'selection' | 'draft'>,
  { file: asked, flow, shared }: Pick<SubmitArguments, 'file' | 'flow' | 'shared'>,
): Promise<FlowJob | undefined> {
  if (!(await isFlow(selection, script))) return undefined;
  const file = scriptPath(script);
  // The flow belongs to the requested file; the user may have chosen another script since.
  const isAsked = asked === undefined || pathInside(selection.root, asked) === file;
  const wanted = isAsked ? { flow, shared } : { flow: undefined, shared: undefined };
  return FlowJob.prepare({ selection, file, args: scriptArguments(script), ...wanted, runner: flowRuntime.runner });
}

async function isFlow({ root }: Selection, script: string): Promise<boolean> {
  const file = scriptPath(script);
  return isFlowScript(file, await readFile(join(root, file), 'utf8').catch(() => ''));
}
