import { rm, writeFile } from 'node:fs/promises';
import { type Checkpoint, checkpointSchema } from '../../../agents/records/schemas.ts';
import { AppError, systemCode } from '../../../core/errors.ts';
import type { FlowRuntime } from '../protocol/flowRun.ts';
import { type RecordedRun, type RecordedRunOptions, type RecordedRunRequest, runRecorded } from './recordedRun.ts';
import { readIfThere } from './runFiles.ts';
import type { RunFolder } from './runFolder.ts';
import type { RunHistory } from './runHistory.ts';
import type { RunRecord } from './runRecord.ts';

/** The answer to a run that waits. */
export interface RunAnswer extends Pick<RecordedRunRequest, 'cwd' | 'env' | 'variables' | 'sources'> {
  readonly record: RunRecord;
  readonly input: unknown;
}

/**
 * Continues a run that waits, as a new run of its file. An answer that is not allowed, and a file that cannot run, leave the run waiting.
 *
 * @throws as `runRecorded` does, and AppError `bad-input` if the run does not wait, `conflict` if it was answered or is being answered,
 * `corrupt` if its checkpoint is missing or damaged.
 */
export async function answerRun(
  history: RunHistory,
  runtime: FlowRuntime,
  { record, input, ...request }: RunAnswer,
  options: RecordedRunOptions,
): Promise<RecordedRun> {
  const { id, file, flow, flowName, args } = record;
  requireWaiting(record);
  const folder = await history.folder(file, id);
  const checkpoint = await readWaiting(id, folder);
  await claim(id, folder);
  try {
    const answer = { run: id, checkpoint, input };
    const run = await runRecorded(history, runtime, { ...request, file, flow, flowName, args, answer }, options);
    if (run.outcome.type === 'refused') await history.delete(file, run.record.id);
    else await history.update({ ...record, answeredBy: run.record.id });
    return run;
  } finally {
    await rm(folder.answering, { force: true });
  }
}

function requireWaiting({ id, outcome, answeredBy }: RunRecord): void {
  if (outcome?.type !== 'waiting') throw new AppError('bad-input', `Run ${id} does not wait for an answer.`);
  if (answeredBy !== undefined) throw new AppError('conflict', `Run ${id} was answered already, by run ${answeredBy}.`);
}

/** Only one process may answer a run. */
async function claim(id: string, { answering }: RunFolder): Promise<void> {
  try {
    await writeFile(answering, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw new AppError('conflict', `Run ${id} is being answered. If that was interrupted, delete ${answering}.`);
  }
}

async function readWaiting(id: string, { waiting }: RunFolder): Promise<Checkpoint> {
  try {
    return checkpointSchema.parse(JSON.parse(await readIfThere(waiting)));
  } catch (cause) {
    throw new AppError('corrupt', `The checkpoint of run ${id} is missing or damaged. Run the flow again.`, { cause });
  }
}
