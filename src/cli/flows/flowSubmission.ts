import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import { FlowJob, isFlowScript } from '../../flows/run/job/flowJob.ts';
import { checkpointBefore } from '../../flows/run/history/rerun.ts';
import { type RunFolder, runFolder } from '../../flows/run/history/runFolder.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import { scriptArguments, scriptPath } from '../../jobs/selection/script.ts';
import type { Selection } from '../../workspace/select/selection.ts';
import { findChoice } from '../../flows/graph/flowChoice.ts';
import type { Context } from '../command/context.ts';
import { readFlowFile } from './flowFile.ts';
import { readShared } from './sharedFlag.ts';

/** The flags of `farwharf submit` that make sense for flow files only. */
export interface FlowSubmitFlags {
  readonly flow?: string;
  readonly shared?: string;
  readonly resume?: string;
  readonly from?: string;
}

/** The flow that a script line names, prepared for sending; undefined if the script is not a flow file. */
export async function prepareFlowJob(
  selection: Selection,
  script: string,
  flags: FlowSubmitFlags,
  { env, program }: Context,
): Promise<FlowJob | undefined> {
  const { flow, shared, resume, from } = flags;
  const isAsked = flow !== undefined || shared !== undefined || resume !== undefined;
  const file = scriptPath(script);
  const text = await readFile(join(selection.root, file), 'utf8').catch(() => '');
  if (!isAsked && !isFlowScript(file, text)) return undefined;
  return FlowJob.prepare({
    file,
    args: scriptArguments(script),
    ...(flow !== undefined && findChoice(await readFlowFile(join(selection.root, file)), flow)),
    shared: shared === undefined ? undefined : await readShared(shared),
    resume:
      resume === undefined
        ? undefined
        : await checkpointBefore(await findRun(join(selection.root, file), resume, env), { path: from }),
    runner: program.flowRuntime.runner,
  });
}

/** A run: the folder with its files, as among the results of a job, or its ID in the history. */
async function findRun(file: string, run: string, env: NodeJS.ProcessEnv): Promise<RunFolder> {
  const stats = await stat(resolve(run)).catch((): undefined => undefined);
  if (stats?.isDirectory() === true) return runFolder(resolve(run));
  const history = new RunHistory(farwharfHome(env));
  return history.folder(file, (await history.find(file, run)).id);
}
