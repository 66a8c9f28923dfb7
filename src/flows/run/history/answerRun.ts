import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Checkpoint } from '../../../agents/records/recordSchemas.ts';
import { jsonSchemaIssues } from '../../../agents/schema/jsonSchemaCheck.ts';
import { AppError, systemCode } from '../../../core/errors.ts';
import { ownerState, processOwner } from '../../../core/processes/processOwner.ts';
import type { FlowRuntime } from '../protocol/runRequest.ts';
import { type RecordedRun, type RecordedRunOptions, type RecordedRunRequest, runRecorded } from './recordedRun.ts';
import { readEvents, readWaiting } from './runFiles.ts';
import type { RunFolder } from './runFolder.ts';
import type { RunHistory } from './runHistory.ts';
import type { RunRecord } from './runRecord.ts';

/** The answer to a run that waits. */
export interface RunAnswer extends Pick<RecordedRunRequest, 'cwd' | 'env' | 'variables' | 'reach'> {
  readonly record: RunRecord;
  readonly input: unknown;
}

export interface AnsweredRun extends RecordedRun {
  /** Whether the run still waits, because the new one ended before the node that asked had used the answer. */
  readonly isStillWaiting: boolean;
}

/**
 * Continues a run that waits, as a new run of its file. An answer that is not allowed, a file that cannot run, and a node that fails with the
 * answer leave the run waiting.
 *
 * @throws as `runRecorded` does, and AppError `bad-input` if the run does not wait or the answer is not allowed, `conflict` if it was
 * answered or is being answered, `corrupt` if its checkpoint is missing or damaged.
 */
export async function answerRun(
  history: RunHistory,
  runtime: FlowRuntime,
  { record: { file, id }, input, ...request }: RunAnswer,
  options: RecordedRunOptions,
): Promise<AnsweredRun> {
  const folder = await history.folder(file, id);
  requireWaiting(await history.find(file, id));
  // Checked before anything starts, so that a wrong answer costs nothing.
  const checkpoint = await checkAnswer(folder, input);
  await claim(id, folder);
  try {
    // Another process may have answered since.
    const record = await history.find(file, id);
    requireWaiting(record);
    const { flow, flowName, args } = record;
    const answer = { run: id, checkpoint, input };
    const run = await runRecorded(history, runtime, { ...request, file, flow, flowName, args, answer }, options);
    const refusal = refusalOf(run);
    if (refusal !== undefined) {
      await history.delete(file, run.record.id);
      throw refusal;
    }
    const isUsed = await hasUsedAnswer(run, checkpoint, await history.folder(file, run.record.id));
    if (run.outcome.type === 'refused') await history.delete(file, run.record.id);
    else if (isUsed) await history.update({ ...record, answeredBy: run.record.id });
    return { ...run, isStillWaiting: !isUsed };
  } finally {
    await rm(folder.answering, { force: true });
  }
}

/** What the flow's own schema has against the answer, which only the process of the flow can check. */
function refusalOf({ outcome, record }: RecordedRun): AppError | undefined {
  if (outcome.type !== 'failed' || outcome.error.code !== 'bad-input' || (record.steps ?? 0) > 0) return undefined;
  return new AppError('bad-input', outcome.error.message);
}

/** Whether the visit that asked has ended. Until then, nothing of the flow depends on the answer. */
async function hasUsedAnswer(
  { outcome }: RecordedRun,
  { path, visit }: Checkpoint,
  folder: RunFolder,
): Promise<boolean> {
  if (outcome.type === 'done' || outcome.type === 'waiting') return true;
  return (await readEvents(folder)).some(
    (event) => (event.type === 'node-end' || event.type === 'flow-end') && event.path === path && event.visit === visit,
  );
}

function requireWaiting({ id, outcome, answeredBy }: RunRecord): void {
  if (outcome?.type !== 'waiting') throw new AppError('bad-input', `Run ${id} does not wait for an answer.`);
  if (answeredBy !== undefined) throw new AppError('conflict', `Run ${id} was answered already, by run ${answeredBy}.`);
}

/** Only one process may answer a run. A claim that a stopped process left behind is removed. */
async function claim(id: string, { answering }: RunFolder): Promise<void> {
  for (let isRetry = false; ; isRetry = true) {
    try {
      await writeFile(answering, processOwner(), { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    const owner = await readFile(answering, 'utf8').catch(() => '');
    if (isRetry || ownerState(owner) !== 'stopped') {
      throw new AppError('conflict', `Run ${id} is being answered by another window or command.`);
    }
    await rm(answering, { force: true });
  }
}

/**
 * Checks an answer to the run in a folder, and returns the checkpoint with which the run continues.
 *
 * @throws AppError `bad-input` if the answer is not allowed, `corrupt` if the checkpoint is missing or damaged.
 */
export async function checkAnswer(folder: RunFolder, input: unknown): Promise<Checkpoint> {
  const checkpoint = await readWaiting(folder);
  requireAllowed(checkpoint, input);
  return checkpoint;
}

/**
 * Checks an answer with what the checkpoint has: the choices, or the JSON Schema. The library checks it again in the run.
 *
 * @throws AppError `bad-input` if it is not allowed.
 */
export function requireAllowed({ pause }: Checkpoint, input: unknown): void {
  const answer = `The answer ${(JSON.stringify(input) ?? 'nothing').slice(0, 200)}`;
  const { choices, input: schema } = pause ?? {};
  if (choices !== undefined && !choices.some((choice) => choice === input)) {
    const list = choices.map((choice) => `"${choice}"`).join(', ');
    throw new AppError('bad-input', `${answer} is not one of ${list}.`);
  }
  const issues = schema === undefined ? [] : jsonSchemaIssues(schema, input);
  if (issues.length === 0) return;
  throw new AppError('bad-input', `${answer} does not match what the run waits for:\n${issues.join('\n')}`);
}
