import { mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readWaiting } from '../history/runFiles.ts';
import { type RunFolder, runFolder } from '../history/runFolder.ts';
import { recordedOutcomeOf } from '../history/runSummary.ts';
import type { StepReach } from '../../project/changedSteps.ts';
import type { NetworkNamespace } from '../start/networkNamespace.ts';
import { runFlow } from '../start/runFlow.ts';
import type { VariableSource } from '../protocol/flowEnvironment.ts';
import type { FlowProcessEvent, FlowRunRequest, FlowRuntime } from '../protocol/runRequest.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import { type RunTimeline, timelinesOf } from '../protocol/runTimeline.ts';
import { expectationsOf } from './expectation.ts';
import type { ExpectedRun, FlowTest } from './flowTestFile.ts';

export interface LiveStep {
  readonly path: string;
  readonly reason: 'code' | 'input' | 'new';
  /** Where code that the step reaches has changed, if it is not its own. */
  readonly files?: string | undefined;
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

interface TestedRun {
  readonly timelines: readonly RunTimeline[];
  readonly live: readonly LiveStep[];
  readonly actual: readonly ExpectedRun[];
  /** One for each answer, and one more. */
  readonly folders: readonly RunFolder[];
}

interface Surroundings {
  /** The folder with the recorded results; the new runs get folders in it. */
  readonly recorded: RunFolder;
  readonly runtime: FlowRuntime;
  readonly options: FlowTestOptions;
  readonly stale: FlowRunRequest['stale'];
}

/** Runs the flow of a test with its recorded results. A run that waits continues with the next of the test's answers. */
export async function runTested(
  path: string,
  { file, flow, flowName, args, shared, answers = [] }: FlowTest,
  { recorded, runtime, options, stale }: Surroundings,
): Promise<TestedRun> {
  const { network, isUpdate, isDebugged } = options;
  // A debugger cannot reach the flow in a namespace, and an update needs the network.
  const isClosed = isUpdate !== true && isDebugged !== true && network.type === 'namespace';
  const tested = {
    timelines: [] as RunTimeline[],
    live: [] as LiveStep[],
    actual: [] as ExpectedRun[],
    folders: [] as RunFolder[],
  };
  let continued: Pick<FlowRunRequest, 'resume' | 'input'> = {};
  for (let answered = 0; ; answered += 1) {
    const events: RunEvent[] = [];
    const fresh = runFolder(await mkdtemp(join(recorded.path, 'run-')));
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
        ...continued,
      },
      {
        signal: options.signal,
        onEvent: (event) => {
          if (event.type === 'run') events.push(event.event);
          options.onEvent?.(event);
        },
      },
    );
    const timelines = timelinesOf(events);
    tested.timelines.push(...timelines);
    tested.actual.push(...expectationsOf(timelines, recordedOutcomeOf(outcome)));
    tested.folders.push(fresh);
    for (const event of events) {
      if (event.type === 'live') tested.live.push({ path: event.path, reason: event.reason, files: event.files });
    }
    if (outcome.type !== 'waiting' || answered >= answers.length) return tested;
    continued = { resume: await readWaiting(fresh), input: answers[answered] };
  }
}
