import { dirname } from 'node:path';
import * as vscode from 'vscode';
import type { TraceEvent } from '../../agents/trace.ts';
import { AppError, messageOf } from '../../core/errors.ts';
import { type Disposable, Emitter } from '../../core/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import type { RemoteService } from '../../core/workerRpc.ts';
import type { FlowGraph } from '../../flows/graph.ts';
import type { FlowOutcome, FlowProcessEvent, FlowRuntime } from '../../flows/run/flowRun.ts';
import { describeRunEnd } from '../../flows/run/describeRun.ts';
import { ModelBridge } from '../../flows/run/modelBridge.ts';
import { type RecordedRunRequest, runRecorded } from '../../flows/run/recordedRun.ts';
import { RunHistory } from '../../flows/run/runHistory.ts';
import { showStep, traceEventsOf } from '../../flows/run/runQueries.ts';
import type { RunRecord } from '../../flows/run/runRecord.ts';
import { RunTimeline } from '../../flows/run/timeline.ts';
import type { RunInfo } from '../../webview/canvas/messages.ts';
import type { JobStore } from '../jobStore.ts';
import type { FlowWorkerService } from '../flowWorker.ts';
import { editorModels } from './editorModels.ts';
import { FlowJobs } from './flowJobs.ts';
import { flowEnvironment } from './flowRuntime.ts';

// So many drawings a second are enough for the eye.
const GATHER_MS = 50;

/** What happened in a run that this window started. */
export type RunNews =
  | { readonly type: 'begin' | 'end'; readonly file: string; readonly run: RunInfo }
  | { readonly type: 'events'; readonly file: string; readonly run: RunInfo; readonly events: readonly TraceEvent[] };

export type FlowRunOptions = Omit<RecordedRunRequest, 'file' | 'cwd' | 'env'> & {
  /** The id of the graph in its file. */
  readonly flow: string;
  readonly env?: Readonly<Record<string, string>>;
};

interface LiveRun {
  info: RunInfo;
  readonly file: string;
  readonly stop: AbortController;
  timeline: RunTimeline | undefined;
  gathered: TraceEvent[];
  timer: NodeJS.Timeout | undefined;
}

interface FlowRunsDeps {
  readonly flowRuntime: FlowRuntime;
  readonly home: string;
  readonly store: JobStore;
  readonly memory: vscode.Memento;
  readonly queries: RemoteService<FlowWorkerService>['runs'];
  readonly log: Logger;
}

/** Runs flows of this window's files, tells what happens, and finds the runs of before. */
export class FlowRuns implements Disposable {
  readonly #deps: FlowRunsDeps;
  readonly #history: RunHistory;
  readonly #live = new Map<string, LiveRun>();
  readonly #last = new Map<string, { readonly flow: string; readonly timeline: RunTimeline }>();
  readonly #news = new Emitter<RunNews>();
  readonly #output: vscode.OutputChannel;
  readonly onNews = this.#news.event;
  /** Runs elsewhere. */
  readonly jobs: FlowJobs;

  constructor(deps: FlowRunsDeps) {
    this.#deps = deps;
    this.#history = new RunHistory(deps.home);
    this.#output = vscode.window.createOutputChannel('Farwharf Flows');
    this.jobs = new FlowJobs(deps, {
      begin: (file, run) => this.#begin(file, run, new AbortController()),
      events: (_file, run, events) => {
        const live = this.#live.get(run.id);
        if (live !== undefined) for (const event of events) this.#take(live, event);
      },
      end: (_file, run) => {
        const live = this.#live.get(run.id);
        if (live !== undefined) this.#end(live, run);
      },
    });
  }

  /** The runs of a file, the newest first. */
  async list(file: string, flows: readonly FlowGraph[]): Promise<readonly RunInfo[]> {
    const records = await this.#deps.queries.list(file);
    const here = records.map((record) => this.#live.get(record.id)?.info ?? infoOf(record, flows));
    return [...here, ...this.jobs.list(file)].toSorted((a, b) => b.startedAt - a.startedAt);
  }

  async events(file: string, id: string): Promise<readonly TraceEvent[]> {
    return this.jobs.isJob(id) ? this.jobs.events(id) : this.#deps.queries.events(file, id);
  }

  async step(file: string, id: string, step: number) {
    const timeline = this.#live.get(id)?.timeline ?? (this.jobs.isJob(id) ? await this.jobs.timeline(id) : undefined);
    return timeline === undefined ? this.#deps.queries.step(file, id, step) : showStep(timeline, step);
  }

  compare(file: string, id: string, other: string) {
    return this.#deps.queries.compare(file, id, other);
  }

  /** The run of a file that was started last in this window, also when it is over. */
  last(file: string): { readonly flow: string; readonly timeline: RunTimeline } | undefined {
    return this.#last.get(file);
  }

  /** The run that began last of those that go on; undefined where none does. */
  running(): RunInfo | undefined {
    return [...this.#live.values()].at(-1)?.info;
  }

  /** Ends a run: here at once, a job by asking for its cancellation. */
  stop(id: string): void {
    if (this.jobs.isJob(id)) void vscode.commands.executeCommand('farwharf.cancelJob', { id });
    this.#live.get(id)?.stop.abort();
  }

  /**
   * Runs a flow of a saved file to its end. Its output goes to the output channel.
   *
   * @throws AppError `untrusted` in a restricted workspace, and what `runRecorded` throws.
   */
  async run(
    document: vscode.TextDocument,
    { env, ...options }: FlowRunOptions,
    { onDebugger }: { readonly onDebugger?: (place: { host: string; port: number }) => void } = {},
  ): Promise<{ readonly run: RunInfo; readonly outcome: FlowOutcome }> {
    if (!vscode.workspace.isTrusted) {
      const message = 'This window is in restricted mode: flows can be read, not run. Trust the folder to run them.';
      throw new AppError('untrusted', message);
    }
    const file = document.uri.fsPath;
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    const stop = new AbortController();
    await using bridge = await ModelBridge.open(editorModels);
    let live: LiveRun | undefined;
    const onEvent = (event: FlowProcessEvent): void => {
      if (event.type === 'output') this.#output.appendLine(event.text);
      if (event.type === 'note') this.#output.appendLine(`farwharf: ${event.message}`);
      if (event.type === 'debugger') onDebugger?.(event);
      if (event.type === 'run' && live !== undefined) this.#take(live, event.event);
    };
    try {
      const { record, outcome } = await runRecorded(
        this.#history,
        this.#deps.flowRuntime,
        {
          ...options,
          file,
          cwd: folder?.uri.fsPath ?? dirname(file),
          env: flowEnvironment({ ...bridge.env, ...env }),
        },
        {
          signal: stop.signal,
          onEvent,
          onBegin: (begun) => {
            const info: RunInfo = { ...infoOf(begun, []), flow: options.flow, state: 'running' };
            live = this.#begin(file, info, stop);
            this.#output.appendLine(`▶ ${vscode.workspace.asRelativePath(document.uri)} · ${options.flow}`);
          },
        },
      );
      const run = { ...infoOf(record, []), flow: options.flow };
      if (live !== undefined) this.#end(live, run);
      this.#output.appendLine(`■ ${describeRunEnd(outcome)}`);
      return { run, outcome };
    } catch (error) {
      if (live !== undefined) this.#end(live, { ...live.info, state: 'failed', message: messageOf(error) });
      throw error;
    }
  }

  showOutput(): void {
    this.#output.show(true);
  }

  dispose(): void {
    for (const { stop, timer } of this.#live.values()) {
      clearTimeout(timer);
      stop.abort();
    }
    this.jobs.dispose();
    this.#news.dispose();
    this.#output.dispose();
  }

  #begin(file: string, info: RunInfo, stop: AbortController): LiveRun {
    const live: LiveRun = { info, file, stop, timeline: undefined, gathered: [], timer: undefined };
    this.#live.set(info.id, live);
    this.#news.fire({ type: 'begin', file, run: info });
    return live;
  }

  #take(live: LiveRun, event: Parameters<RunTimeline['push']>[0]): void {
    if (event.type === 'run-start' && live.timeline === undefined) {
      live.timeline = new RunTimeline(event);
      this.#last.set(live.file, { flow: live.info.flow, timeline: live.timeline });
    }
    if (live.timeline?.start.run !== event.run) return; // the canvas shows the first flow that a file runs
    live.timeline.push(event);
    live.gathered.push(...traceEventsOf([event]));
    live.timer ??= setTimeout(() => this.#flush(live), GATHER_MS);
  }

  #flush(live: LiveRun): void {
    clearTimeout(live.timer);
    live.timer = undefined;
    const events = live.gathered;
    live.gathered = [];
    if (events.length > 0) this.#news.fire({ type: 'events', file: live.file, run: live.info, events });
  }

  #end(live: LiveRun, run: RunInfo): void {
    this.#flush(live);
    this.#live.delete(run.id);
    this.#news.fire({ type: 'end', file: live.file, run });
  }
}

/** A kept run as the canvas lists it. One without an end whose window is gone was stopped with it. */
function infoOf(record: RunRecord, flows: readonly FlowGraph[]): RunInfo {
  const { id, flow, name, startedAt, finishedAt, outcome, job } = record;
  const graph = flows.find((one) => one.id === flow) ?? flows.find(({ label }) => label === name);
  const started = Date.parse(startedAt);
  return {
    id,
    flow: graph?.id ?? flow ?? name ?? '',
    state: stateOf(outcome),
    startedAt: started,
    durationMs: finishedAt === undefined ? undefined : Date.parse(finishedAt) - started,
    remote: job,
    message: outcome === undefined || outcome.type === 'done' ? undefined : describeRunEnd(outcome),
    isRecorded: true,
  };
}

function stateOf(outcome: RunRecord['outcome']): RunInfo['state'] {
  if (outcome?.type === 'done') return outcome.exitCode === 0 ? 'done' : 'failed';
  return outcome === undefined || outcome.type === 'stopped' ? 'stopped' : 'failed';
}
