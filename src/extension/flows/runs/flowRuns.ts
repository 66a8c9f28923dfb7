import * as vscode from 'vscode';
import type { TraceEvent } from '../../../agents/records/trace.ts';
import { messageOf } from '../../../core/errors.ts';
import { type Disposable, Emitter } from '../../../core/processes/lifetime.ts';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { DebuggerPlace } from '../../../flows/run/start/debugConfiguration.ts';
import type { FlowProcessEvent } from '../../../flows/run/protocol/runRequest.ts';
import type { FlowOutcome } from '../../../flows/run/protocol/flowOutcome.ts';
import { describeRunEnd } from '../../../flows/run/history/describeRun.ts';
import { answerRun } from '../../../flows/run/history/answerRun.ts';
import {
  type RecordedRun,
  type RecordedRunOptions,
  type RecordedRunRequest,
  runRecorded,
} from '../../../flows/run/history/recordedRun.ts';
import { RunHistory } from '../../../flows/run/history/runHistory.ts';
import type { StepReach } from '../../../flows/project/changedSteps.ts';
import type { RunEvent } from '../../../flows/run/protocol/runEvent.ts';
import type { RunInfo } from '../../../webview/canvas/state/canvasMessages.ts';
import { requireTrust } from '../../workspace/folders.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import { renamedTo } from '../documents/openSource.ts';
import { openModelBridge } from './editorModels.ts';
import { FlowJobs, type FlowJobsDeps } from './flowJobs.ts';
import { flowPlace } from './flowRuntime.ts';
import { LiveRun, type VisitedNodes } from './liveRun.ts';
import { infoOf } from './runInfo.ts';
import { RunReader } from './runReader.ts';
import { printableText, printable } from '../../../core/text/printable.ts';
import { createTextChannel, type TextChannel } from '../../ui/show.ts';
import type { VisitRunnerDeps } from './visitRunner.ts';

/** An update of a run that this window started. */
export type RunNews =
  | { readonly type: 'begin' | 'change' | 'end'; readonly file: string; readonly run: RunInfo }
  | { readonly type: 'events'; readonly file: string; readonly run: RunInfo; readonly events: readonly TraceEvent[] };

export type FlowRunOptions = Omit<RecordedRunRequest, 'file' | 'cwd' | 'env' | 'variables'> & {
  /** The id of the graph in its file. */
  readonly flow: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
};

/** Where a run runs. */
type RunPlace = Pick<RecordedRunRequest, 'file' | 'cwd' | 'env' | 'variables'>;

interface FollowedRun extends Pick<FlowRunOptions, 'flow' | 'flowName' | 'env'> {
  readonly onDebugger?: ((place: DebuggerPlace) => void) | undefined;
}

export interface FlowRunEnd {
  readonly run: RunInfo;
  readonly outcome: FlowOutcome;
  /** The variable of a model key that the flow needed and did not get. */
  readonly missingKey: string | undefined;
}

interface FlowRunsDeps extends FlowJobsDeps, VisitRunnerDeps {
  /** Finds the code that each step of a flow file can reach. */
  readonly readReach: (file: string) => Promise<StepReach>;
  readonly queries: RemoteService<FlowWorkerService>['runs'];
}

/** Runs flows of this window's files, and reports their progress. */
export class FlowRuns implements Disposable {
  readonly #deps: FlowRunsDeps;
  readonly #history: RunHistory;
  readonly #live = new Map<string, LiveRun>();
  readonly #last = new Map<string, VisitedNodes>();
  readonly #news = new Emitter<RunNews>();
  readonly #output: TextChannel;
  readonly onNews = this.#news.event;
  readonly jobs: FlowJobs;
  readonly reader: RunReader;

  constructor(deps: FlowRunsDeps) {
    this.#deps = deps;
    this.#history = new RunHistory(deps.home);
    this.#output = createTextChannel('Farwharf Flows');
    this.jobs = new FlowJobs(deps, {
      begin: (file, run) => this.#begin(file, run, new AbortController()),
      events: (file, run, events) => {
        const live = this.#live.get(run.id);
        if (live !== undefined) for (const event of events) this.#take(file, live, event);
      },
      changed: (file, run) => this.#news.fire({ type: 'change', file, run }),
      end: (file, run) => {
        const live = this.#live.get(run.id);
        if (live !== undefined) this.#end(file, live, run);
      },
    });
    const { queries } = deps;
    this.reader = new RunReader({ history: this.#history, queries, jobs: this.jobs, live: this.#live });
  }

  /** The run of a file that this window started last, even if it has ended. */
  last(file: string): VisitedNodes | undefined {
    return this.#last.get(file);
  }

  /** The run in progress that started last; undefined if there is none. */
  running(): RunInfo | undefined {
    return [...this.#live.values()].at(-1)?.info;
  }

  /** Stops a run: immediately on this machine, a job by requesting its cancellation. */
  stop(id: string): void {
    if (this.jobs.isJob(id)) void vscode.commands.executeCommand('farwharf.cancelJob', { id });
    this.#live.get(id)?.stop.abort();
  }

  /**
   * Runs a flow of a saved file. Its output goes to the output channel.
   *
   * @throws AppError `untrusted` in a restricted workspace, and what `runRecorded` throws.
   */
  async run(
    document: vscode.TextDocument,
    { env, ...options }: FlowRunOptions,
    { onDebugger }: { readonly onDebugger?: (place: DebuggerPlace) => void } = {},
  ): Promise<FlowRunEnd> {
    const { flow, flowName } = options;
    const reach = await this.#deps.readReach(document.uri.fsPath);
    return this.#follow(document, { flow, flowName, env, onDebugger }, (place, following) =>
      runRecorded(this.#history, this.#deps.flowRuntime, { ...options, reach, ...place }, following),
    );
  }

  /**
   * Continues a run that waits with the answer to its question.
   *
   * @param flow the id of the graph in its file.
   * @throws AppError `untrusted` in a restricted workspace, and what `answerRun` throws.
   */
  async answer(
    document: vscode.TextDocument,
    { run, flow, input }: { readonly run: string; readonly flow: string; readonly input: unknown },
  ): Promise<FlowRunEnd> {
    const record = await this.#history.find(document.uri.fsPath, run);
    return this.#follow(document, { flow, flowName: record.flowName }, (place, following) =>
      answerRun(this.#history, this.#deps.flowRuntime, { ...place, record, input }, following),
    );
  }

  /** Runs `work`, and shows its run on canvases while it runs. */
  async #follow(
    document: vscode.TextDocument,
    { flow, flowName, env, onDebugger }: FollowedRun,
    work: (place: RunPlace, following: RecordedRunOptions) => Promise<RecordedRun>,
  ): Promise<FlowRunEnd> {
    requireTrust();
    const file = document.uri.fsPath;
    const stop = new AbortController();
    await using bridge = await openModelBridge(this.#deps.modelKeys);
    let live: LiveRun | undefined;
    let missingKey: string | undefined;
    const onEvent = (event: FlowProcessEvent): void => {
      if (event.type === 'output') this.#output.appendLine(printableText(event.text));
      if (event.type === 'note') this.#output.appendLine(printable`farwharf: ${event.message}`);
      if (event.type === 'missingKey') missingKey ??= event.variable;
      if (event.type === 'debugger') onDebugger?.(event);
      if (event.type === 'run' && live !== undefined) this.#take(file, live, event.event);
    };
    const place = flowPlace(file, { ...bridge.env, ...env });
    try {
      const { record, outcome } = await work(place, {
        signal: stop.signal,
        onEvent,
        onBegin: (begun) => {
          live = this.#begin(file, { ...infoOf(begun, []), flow, state: 'running' }, stop, flowName);
          this.#output.appendLine(printable`▶ ${vscode.workspace.asRelativePath(document.uri)} · ${flow}`);
        },
      });
      const run = { ...infoOf(record, []), flow };
      if (live !== undefined) this.#end(file, live, run);
      this.#output.appendLine(printable`■ ${describeRunEnd(outcome)}`);
      return { run, outcome, missingKey };
    } catch (error) {
      if (live !== undefined) this.#end(file, live, { ...live.info, state: 'failed', message: messageOf(error) });
      throw error;
    }
  }

  /** Lists the runs of files that were renamed under their new names. */
  async followRenames(files: vscode.FileRenameEvent['files']): Promise<void> {
    const renamed = (file: string): string | undefined => renamedTo(vscode.Uri.file(file), files)?.fsPath;
    await this.jobs.followRenames(renamed);
    await this.#history.followRenames(renamed);
  }

  showOutput(): void {
    this.#output.show(true);
  }

  dispose(): void {
    for (const live of this.#live.values()) live.dispose();
    this.jobs.dispose();
    this.#news.dispose();
    this.#output.dispose();
  }

  #begin(file: string, info: RunInfo, stop: AbortController, flowName?: string): LiveRun {
    const report = (events: readonly TraceEvent[]): void =>
      this.#news.fire({ type: 'events', file, run: info, events });
    const live = new LiveRun(info, stop, report, flowName);
    this.#live.set(info.id, live);
    this.#news.fire({ type: 'begin', file, run: info });
    return live;
  }

  #take(file: string, live: LiveRun, event: RunEvent): void {
    if (event.type === 'run-start') this.#last.set(file, live);
    live.take(event);
  }

  #end(file: string, live: LiveRun, run: RunInfo): void {
    live.flush();
    this.#live.delete(run.id);
    // The steps of a run can contain much data. Only the states of its nodes are kept; the rest is on disk.
    if (this.#last.get(file) === live) this.#last.set(file, { flow: live.flow, nodes: live.nodes });
    this.#news.fire({ type: 'end', file, run });
  }
}
