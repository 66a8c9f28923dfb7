import { join } from 'node:path';
import { pathInside } from '../../core/files/pathInside.ts';
import { readNamedFile } from '../../core/files/namedFile.ts';
import type { Checkpoint } from '../../agents/records/recordSchemas.ts';
import { FlowJob, flowRuntimeFiles, isFlowScript } from '../../flows/run/job/flowJob.ts';
import type { SubmitPlan } from '../../jobs/plan/plan.ts';
import { scriptArguments, scriptPath } from '../../jobs/selection/script.ts';
import type { SelectedFile } from '../../workspace/select/selection.ts';
import type { FlowRuntime } from '../../flows/run/protocol/runRequest.ts';
import type { SubmitArguments } from './submitArguments.ts';

interface FlowScriptDeps {
  readonly flowRuntime: FlowRuntime;
}

/** The files that a script needs besides those of its folder: the flow runtime for a flow file, none for others. */
export async function runtimeOf(
  { flowRuntime }: FlowScriptDeps,
  root: string,
  script: string,
): Promise<readonly SelectedFile[]> {
  return (await isFlow(root, script)) ? flowRuntimeFiles(flowRuntime.runner) : [];
}

/** An answer with which a new job continues the flow of one that waits. */
export interface FlowAnswer {
  readonly resume: Checkpoint;
  readonly input: unknown;
}

/** Prepares a flow file and its runtime for sending; undefined for any other script. */
export async function prepareFlow(
  { flowRuntime }: FlowScriptDeps,
  {
    selection,
    draft: { script },
  }: Pick<SubmitPlan, 'selection'> & { readonly draft: Pick<SubmitPlan['draft'], 'script'> },
  { file: asked, flow, flowName, shared }: Pick<SubmitArguments, 'file' | 'flow' | 'flowName' | 'shared'>,
  answer?: FlowAnswer,
): Promise<FlowJob | undefined> {
  if (!(await isFlow(selection.root, script))) return undefined;
  const file = scriptPath(script);
  // The flow belongs to the requested file; the user may have chosen another script since.
  const isAsked = asked === undefined || pathInside(selection.root, asked) === file;
  const wanted = isAsked ? { flow, flowName, shared, ...answer } : {};
  return FlowJob.prepare({ file, args: scriptArguments(script), ...wanted, runner: flowRuntime.runner });
}

async function isFlow(root: string, script: string): Promise<boolean> {
  const file = scriptPath(script);
  return isFlowScript(file, await readNamedFile(join(root, file)).catch(() => ''));
}
