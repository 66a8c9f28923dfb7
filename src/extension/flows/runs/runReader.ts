import type { TraceEvent } from '../../../agents/records/trace.ts';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { FlowGraph } from '../../../flows/graph/graph.ts';
import { readEvents } from '../../../flows/run/history/runFiles.ts';
import type { RunHistory } from '../../../flows/run/history/runHistory.ts';
import { type RunComparison, type ShownStep, showComparison, showStep } from '../../../flows/run/history/runQueries.ts';
import { mainTimeline, type RunTimeline, timelinesOf } from '../../../flows/run/protocol/runTimeline.ts';
import type { RunInfo } from '../../../webview/canvas/state/canvasMessages.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import type { FlowJobs } from './flowJobs.ts';
import type { LiveRun } from './liveRun.ts';
import { infoOf } from './runInfo.ts';

interface RunReaderDeps {
  readonly history: RunHistory;
  readonly queries: RemoteService<FlowWorkerService>['runs'];
  readonly jobs: FlowJobs;
  /** The runs in progress, by their ids. */
  readonly live: ReadonlyMap<string, LiveRun>;
}

/** Reads runs for canvases, wherever they are: in progress, recorded on this machine, or as a job. */
export class RunReader {
  readonly #deps: RunReaderDeps;

  constructor(deps: RunReaderDeps) {
    this.#deps = deps;
  }

  /** The runs of a file, the newest first. */
  async list(file: string, flows: readonly FlowGraph[]): Promise<readonly RunInfo[]> {
    const { queries, jobs, live } = this.#deps;
    const records = await queries.list(file);
    const here = records.map((record) => live.get(record.id)?.info ?? infoOf(record, flows));
    return [...here, ...jobs.list(file)].toSorted((a, b) => b.startedAt - a.startedAt);
  }

  /** The events of a run so far; for a run in progress, `onNews` of FlowRuns reports the rest. */
  async events(file: string, id: string): Promise<readonly TraceEvent[]> {
    const { queries, jobs, live } = this.#deps;
    const running = live.get(id);
    if (running !== undefined) return running.reported;
    return jobs.isJob(id) ? jobs.events(id) : queries.events(file, id);
  }

  /** A step with its changes; undefined if the run has no such step. */
  async step(file: string, id: string, step: number): Promise<ShownStep | undefined> {
    const { queries, jobs, live } = this.#deps;
    const timeline = live.get(id)?.timeline ?? (jobs.isJob(id) ? await jobs.timeline(id) : undefined);
    return timeline === undefined ? queries.step(file, id, step) : showStep(timeline, step);
  }

  /** How the second run differs from the first. */
  async compare(file: string, id: string, other: string): Promise<RunComparison> {
    const { queries, jobs } = this.#deps;
    if (!jobs.isJob(id) && !jobs.isJob(other)) return queries.compare(file, id, other);
    const [before, after] = await Promise.all([this.#timeline(file, id), this.#timeline(file, other)]);
    return showComparison(before, after);
  }

  async #timeline(file: string, run: string): Promise<RunTimeline | undefined> {
    const { history, jobs } = this.#deps;
    if (jobs.isJob(run)) return jobs.timeline(run);
    const { flowName } = await history.find(file, run);
    return mainTimeline(timelinesOf(await readEvents(await history.folder(file, run))), flowName);
  }
}
