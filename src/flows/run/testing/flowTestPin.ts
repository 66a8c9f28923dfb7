import { rm } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { readEvents } from '../history/runFiles.ts';
import type { RunHistory } from '../history/runHistory.ts';
import { stepReachSchema } from '../history/runRecord.ts';
import type { FlowRuntime } from '../protocol/runRequest.ts';
import { timelinesOf } from '../protocol/runTimeline.ts';
import { expectationsOf, keptIn } from './expectation.ts';
import { writeFlowTest } from './flowTestFile.ts';
import { runFlowTest } from './flowTestRun.ts';
import type { FlowTestOptions } from './testedRun.ts';

interface PinnedRun {
  readonly history: RunHistory;
  readonly file: string;
  /** Its id; `last` is the newest. */
  readonly run: string;
}

/**
 * Pins a run as a test at `path`, with the runs that it continued by an answer, and runs it once: keys of the shared state that differ in this run are listed under `ignore`.
 *
 * @throws AppError `missing` if there is no such run, `limit` if it is not recorded to its end, `conflict` if it cannot be repeated from its recording, or started in the middle of another; the
 * test is then not kept.
 */
export async function pinFlowTest(
  path: string,
  { history, file, run }: PinnedRun,
  runtime: FlowRuntime,
  options: FlowTestOptions,
): Promise<void> {
  const last = await history.find(file, run);
  const records = await history.answeredChain(last);
  const [first = last] = records;
  if (first.resumedFrom !== undefined) {
    throw new AppError(
      'conflict',
      'This run started in the middle of another, so it cannot be a test. Pin a whole run.',
    );
  }
  const folders = await Promise.all(records.map(({ id }) => history.folder(file, id)));
  const timelines = await Promise.all(folders.map(async (folder) => timelinesOf(await readEvents(folder))));
  if (timelines.flat().some(({ isCutShort }) => isCutShort)) {
    const message = 'This run has more steps than a trace can store, so it cannot be a test. Pin a shorter run.';
    throw new AppError('limit', message);
  }
  const expected = timelines.map((each, index) => expectationsOf(each, records[index]?.outcome));
  const answers = records.slice(1).map(({ answer }) => answer ?? null);
  const test = {
    file: relative(dirname(path), file).replaceAll('\\', '/'),
    flow: first.flow,
    flowName: first.flowName,
    args: first.args,
    shared: first.shared,
    ...(answers.length > 0 && { answers }),
    reach: first.reach && stepReachSchema.parse(first.reach),
    expect: expected.flat(),
    ignore: [],
    ...(await keptIn(folders)),
  };
  await writeFlowTest(path, test);
  const { differences } = await runFlowTest(path, runtime, options);
  if (differences.length === 0) return;
  const ignore = differences.flatMap((difference) => (difference.type === 'state' ? [difference.key] : []));
  if (ignore.length < differences.length) {
    await rm(path, { force: true });
    const [difference] = differences.filter(({ type }) => type !== 'state');
    throw new AppError(
      'conflict',
      `A second run gave a different result, so this run cannot be a test: ${difference?.lines.join(' ') ?? ''}`,
    );
  }
  await writeFlowTest(path, { ...test, ignore });
}
