import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { recordingEntrySchema } from '../../../agents/records/schemas.ts';
import { AppError } from '../../../core/errors.ts';
import { describeRunEnd } from '../history/describeRun.ts';
import { type ExpectedRun, type FlowTest, readFlowTest, recordedReply, writeFlowTest } from './flowTestFile.ts';
import type { VariableSource } from '../protocol/flowEnvironment.ts';
import { changedSteps, type StepReach } from '../../reach/changedSteps.ts';
import type { FlowProcessEvent, FlowRunRequest, FlowRuntime } from '../protocol/flowRun.ts';
import { inLaneOrder } from '../history/laneOrder.ts';
import type { FlowOutcome } from '../protocol/outcome.ts';
import { parseLines } from '../protocol/jsonLines.ts';
import type { NetworkNamespace } from '../process/networkNamespace.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import { readEvents, readIfThere } from '../history/runFiles.ts';
import { type RunFolder, runFolder } from '../history/runFolder.ts';
import type { RunHistory } from '../history/runHistory.ts';
import { runFlow } from '../process/runFlow.ts';
import { summaryOf } from '../history/runSummary.ts';
import { type RunRecord, stepReachSchema } from '../history/runRecord.ts';
import { differencesOf, type TestDifference } from './testDifference.ts';
import { testedFile } from './testedFile.ts';
import { type RunTimeline, timelinesOf } from '../protocol/timeline.ts';

export interface FlowTestResult {
  readonly status: 'passed' | 'failed' | 'updated';
  readonly differences: readonly TestDifference[];
  /** The steps whose `exec` ran because there was no recorded result for it. */
  readonly live: readonly {
    readonly path: string;
    readonly reason: 'code' | 'input' | 'new';
    /** Where code that the step reaches has changed, if it is not its own. */
    readonly files?: string | undefined;
  }[];
  readonly timelines: readonly RunTimeline[];
  readonly durationMs: number;
}

export interface FlowTestOptions extends VariableSource {
  readonly signal: AbortSignal;
  /** How the flow and its child processes run without network; from `findNetworkNamespace`. */
  readonly network: NetworkNamespace;
  /** The folder that was searched for tests; by default the folder of the test. */
  readonly root?: string | undefined;
  /** Runs with network, and writes the new result into the test. */
  readonly isUpdate?: boolean;
  readonly isDebugged?: boolean;
  /** Finds the code that each step of a flow file can reach. */
  readonly readReach: (file: string) => Promise<StepReach>;
  readonly onEvent?: (event: FlowProcessEvent) => void;
}

/**
 * Runs a pinned test again.
 *
 * @throws AppError for a test that cannot be read, and the signal's reason on abort.
 */
export async function runFlowTest(
  path: string,
  runtime: FlowRuntime,
  options: FlowTestOptions,
): Promise<FlowTestResult> {
  const test = await readFlowTest(path);
  const file = await testedFile(path, test.file, options.root ?? dirname(path));
  const startedAt = performance.now();
  const scratch = await mkdtemp(join(tmpdir(), 'farwharf-flowtest-'));
  try {
    const recorded = runFolder(scratch);
    await writeFile(recorded.recording, lines(test.recording));
    await writeFile(recorded.calls, lines(test.models));
    const fresh = runFolder(await mkdtemp(join(scratch, 'run-')));
    const reach = await options.readReach(file);
    const stale = test.reach && changedSteps(test.reach, reach);
    const run = await observe(path, { ...test, file }, { recorded, fresh, runtime, options, stale });
    options.signal.throwIfAborted();
    const actual = expectationsOf(run.timelines, summaryOf(run.timelines, run.outcome).outcome);
    const differences = differencesOf(test.expect, actual, test.ignore);
    // An update must not make a missing key or a service that is down the expected result.
    const isBroken = actual.some(({ error }, index) => error !== undefined && test.expect[index]?.error === undefined);
    const isUpdate = options.isUpdate === true && !isBroken && differences.length + run.live.length > 0;
    if (isUpdate)
      await writeFlowTest(path, { ...withoutHeader(test), expect: actual, reach, ...(await keptIn(fresh, test)) });
    const status = isUpdate ? 'updated' : differences.length === 0 ? 'passed' : 'failed';
    return { ...run, status, differences, durationMs: performance.now() - startedAt };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Observation {
  readonly recorded: RunFolder;
  readonly fresh: RunFolder;
  readonly runtime: FlowRuntime;
  readonly options: FlowTestOptions;
  readonly stale: FlowRunRequest['stale'];
}

async function observe(
  path: string,
  { file, flow, flowName, args, shared }: FlowTest,
  { recorded, fresh, runtime, options, stale }: Observation,
): Promise<Pick<FlowTestResult, 'timelines' | 'live'> & { outcome: FlowOutcome }> {
  const events: RunEvent[] = [];
  const { network, isUpdate, isDebugged } = options;
  // A debugger cannot reach the flow in a namespace, and an update needs the network.
  const isClosed = isUpdate !== true && isDebugged !== true && network.type === 'namespace';
  const outcome = await runFlow(
    isClosed ? { ...runtime, starter: network.command } : runtime,
    {
      file,
      flow,
      flowName,
      args,
      shared,
      cwd: dirname(path),
      env: options.env,
      variables: options.variables,
      replay: recorded.path,
      stale,
      folder: fresh.path,
      isOffline: isUpdate !== true,
      isDebugged,
    },
    {
      signal: options.signal,
      onEvent: (event) => {
        if (event.type === 'run') events.push(event.event);
        options.onEvent?.(event);
      },
    },
  );
  const live = events.flatMap((event) =>
    event.type === 'live' ? [{ path: event.path, reason: event.reason, files: event.files }] : [],
  );
  return { outcome, timelines: timelinesOf(events), live };
}

/** The result of a run for a test. A file that could not run counts as a run that failed immediately. */
function expectationsOf(timelines: readonly RunTimeline[], outcome: RunRecord['outcome']): ExpectedRun[] {
  const isWhole = outcome?.type === 'done' || (outcome?.type === 'failed' && timelines.some(({ end }) => end?.error));
  const failure = isWhole ? undefined : describeRunEnd(outcome);
  if (timelines.length === 0) return [{ flow: '', steps: [], shared: null, error: failure ?? 'no flow ran' }];
  return timelines.map((timeline, index) => {
    const { start, end, steps } = timeline;
    const error = end?.error?.message ?? (index === timelines.length - 1 ? failure : undefined);
    return {
      flow: start.name,
      steps: inLaneOrder(steps)
        .filter(({ type }) => type === 'node')
        .map(({ path, action, status }) => stepLine(path, action, status)),
      shared: timeline.stateAfter(steps.length - 1),
      ...(error !== undefined && { error }),
    };
  });
}

function stepLine(path: string, action: string | undefined, status: string): string {
  return `${path} -> ${status === 'done' ? (action ?? 'default') : status}`;
}

/** The recorded results of the new run, and all known replies of models. */
async function keptIn(fresh: RunFolder, test?: FlowTest): Promise<Pick<FlowTest, 'recording' | 'models'>> {
  const calls = parseLines(await readIfThere(fresh.calls), (value) => recordedReply.safeParse(value).data);
  const readEntry = (value: unknown) => recordingEntrySchema.safeParse(value).data;
  const recording = parseLines(await readIfThere(fresh.recording), readEntry);
  const models = [...(test?.models ?? []), ...calls];
  return {
    recording: [...recording],
    models: [...new Map(models.map((call) => [JSON.stringify(call), call])).values()],
  };
}

interface PinnedRun {
  readonly history: RunHistory;
  readonly file: string;
  /** Its id; `last` is the newest. */
  readonly run: string;
}

/**
 * Pins a run as a test at `path`, and runs it once: keys of the shared state that differ in this run are listed under `ignore`.
 *
 * @throws AppError `missing` if there is no such run, `conflict` if it cannot be repeated from its recording, or started in the middle of another; the
 * test is then not kept.
 */
export async function pinFlowTest(
  path: string,
  { history, file, run }: PinnedRun,
  runtime: FlowRuntime,
  options: FlowTestOptions,
): Promise<void> {
  const record = await history.find(file, run);
  const folder = await history.folder(file, record.id);
  const timelines = timelinesOf(await readEvents(folder));
  if (record.resumedFrom !== undefined) {
    throw new AppError(
      'conflict',
      'This run started in the middle of another, so it cannot be a test. Pin a whole run.',
    );
  }
  const test = {
    file: relative(dirname(path), file).replaceAll('\\', '/'),
    flow: record.flow,
    flowName: record.flowName,
    args: record.args,
    shared: record.shared,
    reach: record.reach && stepReachSchema.parse(record.reach),
    expect: expectationsOf(timelines, record.outcome),
    ignore: [],
    ...(await keptIn(folder)),
  };
  await writeFlowTest(path, test);
  const { differences } = await runFlowTest(path, runtime, options);
  if (differences.length === 0) return;
  const ignore = differences.flatMap((difference) => (difference.type === 'state' ? [difference.key] : []));
  if (ignore.length < differences.length) {
    await rm(path, { force: true });
    const [first] = differences.filter(({ type }) => type !== 'state');
    throw new AppError(
      'conflict',
      `A second run gave a different result, so this run cannot be a test: ${first?.lines.join(' ') ?? ''}`,
    );
  }
  await writeFlowTest(path, { ...test, ignore });
}

function withoutHeader({ about: _about, version: _version, ...test }: FlowTest): Omit<FlowTest, 'about' | 'version'> {
  return test;
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
