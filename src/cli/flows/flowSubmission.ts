import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { FlowJob, isFlowScript } from '../../flows/run/start/flowJob.ts';
import { checkAnswer } from '../../flows/run/history/answerRun.ts';
import { readCarriedSteps } from '../../flows/run/history/carriedSteps.ts';
import { checkpointBefore } from '../../flows/run/history/rerun.ts';
import { findJobRun, readIfThere } from '../../flows/run/history/runFiles.ts';
import type { RunFolder } from '../../flows/run/history/runFolder.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import { scriptArguments, scriptPath } from '../../jobs/selection/script.ts';
import { readBounded } from '../../workspace/files/boundedRead.ts';
import type { Selection } from '../../workspace/select/selection.ts';
import { findChoice } from '../../flows/graph/flowChoice.ts';
import type { Context } from '../command/commandContext.ts';
import { parseAnswerFlag } from './jsonInput.ts';
import { readSharedFlag } from './jsonInput.ts';
import { jobArgument } from '../command/jobArgument.ts';

const MAX_ID = 100;
const MAX_SOURCE_BYTES = 10_000_000;

/** The flags of `farwharf submit` that make sense for flow files only. */
export interface FlowSubmitFlags {
  readonly flow?: string;
  readonly shared?: string;
  readonly resume?: string;
  readonly from?: string;
  readonly input?: string;
  readonly again: boolean;
}

/** The flow that a script line names, prepared for sending; undefined if the script is not a flow file. */
export async function prepareFlowJob(
  selection: Selection,
  script: string,
  flags: FlowSubmitFlags,
  context: Context,
): Promise<FlowJob | undefined> {
  const { cwd, program } = context;
  const { flow, shared, resume, from, input: json } = flags;
  if (json !== undefined && (resume === undefined || from !== undefined)) {
    throw new AppError(
      'bad-input',
      '--input answers the run that --resume names. It cannot be used without it, or with --from.',
    );
  }
  const input = json === undefined ? undefined : parseAnswerFlag(json);
  const isAsked = flow !== undefined || shared !== undefined || resume !== undefined;
  const file = scriptPath(script);
  const checkpointOf = (run: RunFolder) =>
    json === undefined ? checkpointBefore(run, { path: from }) : checkAnswer(run, input);
  const text = await readBounded(join(selection.root, file), MAX_SOURCE_BYTES);
  if (!isAsked && !isFlowScript(file, String(text ?? ''))) return undefined;
  const resumed = resume === undefined ? undefined : await findRun({ folder: selection.root, file }, resume, context);
  if (resumed !== undefined && from === undefined && !flags.again) await refuseContinued(resumed);
  return FlowJob.prepare({
    file,
    args: scriptArguments(script),
    ...(flow !== undefined && (await findFlow(join(selection.root, file), flow, context))),
    shared: shared === undefined ? undefined : await readSharedFlag(shared, cwd),
    resume: resumed && (await checkpointOf(resumed)),
    steps: resumed && (await readCarriedSteps(resumed, { isWhole: from === undefined && json === undefined })),
    continuedBy: resumed?.continuedBy,
    input,
    runner: program.flowRuntime.runner,
  });
}

async function findFlow(path: string, flow: string, context: Context): Promise<ReturnType<typeof findChoice>> {
  // A third of what the command loads, which few submits need.
  const { readFlowFile } = await import('./flowFile.ts');
  return findChoice(await readFlowFile(path, context), flow);
}

/** @throws AppError `conflict` if a job has continued the run: another would repeat its work. */
async function refuseContinued({ path, continuedBy }: RunFolder): Promise<void> {
  const job = (await readIfThere(continuedBy)).trim().slice(0, MAX_ID);
  if (job === '') return;
  const message =
    `The run in ${path} was continued by job ${job}, and another job would repeat that work. To continue that job, get its results with ` +
    `farwharf download --into DIR ${jobArgument(job)} and resume those. To repeat from here, use --again, or --from NODE.`;
  throw new AppError('conflict', message);
}

/** A run of a flow file: a folder with its files, or with those of several runs, as among the results of jobs, or its ID in the history. */
async function findRun(
  { folder, file }: { readonly folder: string; readonly file: string },
  run: string,
  { cwd, env }: Context,
): Promise<RunFolder> {
  const path = resolve(cwd, run);
  const stats = await stat(path).catch((): undefined => undefined);
  if (stats?.isDirectory() === true) return findJobRun(path, file);
  const history = new RunHistory(farwharfHome(env));
  const flow = join(folder, file);
  return history.folder(flow, (await history.find(flow, run)).id);
}
