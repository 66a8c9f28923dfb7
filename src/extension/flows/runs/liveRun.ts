import type { TraceEvent } from '../../../agents/records/trace.ts';
import type { RunEvent } from '../../../flows/run/protocol/runEvent.ts';
import { traceEventsOf } from '../../../flows/run/history/runQueries.ts';
import type { NodeState } from '../../../flows/run/protocol/nodeState.ts';
import { RunTimeline } from '../../../flows/run/protocol/runTimeline.ts';
import type { RunInfo } from '../../../webview/canvas/state/canvasMessages.ts';

// 20 updates a second look continuous.
const GATHER_MS = 50;

/** The states of a flow's nodes in a run. */
export interface VisitedNodes {
  /** The id of the graph in its file. */
  readonly flow: string;
  /** By their paths. */
  readonly nodes: ReadonlyMap<string, NodeState>;
}

/** A run in progress. If a file runs several flows, only the one that was asked for, which the canvas shows; else the first. */
export class LiveRun implements VisitedNodes {
  readonly info: RunInfo;
  readonly stop: AbortController;
  readonly #report: (events: readonly TraceEvent[]) => void;
  readonly #reported: TraceEvent[] = [];
  readonly #flowName: string | undefined;
  #timeline: RunTimeline | undefined;
  #gathered: TraceEvent[] = [];
  #timer: NodeJS.Timeout | undefined;

  /**
   * `report` is called with the new events, a few times a second.
   *
   * @param flowName the name of the flow in trace events, if others may run too.
   */
  constructor(
    info: RunInfo,
    stop: AbortController,
    report: (events: readonly TraceEvent[]) => void,
    flowName?: string,
  ) {
    this.info = info;
    this.stop = stop;
    this.#report = report;
    this.#flowName = flowName;
  }

  /** Undefined before the first event. */
  get timeline(): RunTimeline | undefined {
    return this.#timeline;
  }

  /** The events so far. The trace on disk may be ahead or behind, so continuing from there would miss or repeat events. */
  get reported(): readonly TraceEvent[] {
    return [...this.#reported];
  }

  get flow(): string {
    return this.info.flow;
  }

  get nodes(): ReadonlyMap<string, NodeState> {
    return this.#timeline?.nodesAfter(this.#timeline.steps.length - 1) ?? new Map();
  }

  take(event: RunEvent): void {
    if (event.type === 'run-start' && (this.#flowName ?? event.name) === event.name) {
      this.#timeline ??= new RunTimeline(event);
    }
    if (this.#timeline?.start.run !== event.run) return;
    this.#timeline.push(event);
    this.#gathered.push(...traceEventsOf([event]));
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** Passes on the collected events now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#gathered;
    this.#gathered = [];
    if (events.length === 0) return;
    for (const event of events) this.#reported.push(event);
    this.#report(events);
  }

  /** Stops its process, or stops following it. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.stop.abort();
  }
}
