import type { TraceEvent } from '../../../agents/records/trace.ts';
import type { FlowFile, FlowGraph } from '../../../flows/graph/graph.ts';
import { unitsOfPath } from '../../../flows/graph/tracePath.ts';
import { StepReducer, type TimelineStep } from '../../../flows/run/protocol/timelineStep.ts';
import { type Entry, OverlayBuilder, type RunOverlay } from './runOverlay.ts';

// A run can loop for hours. Counts are exact only for the entries that are kept, so the canvas says where they begin.
const MAX_ENTRIES = 50_000;
// Events that the drawing does not show.
const NOT_SHOWN: ReadonlySet<TraceEvent['type']> = new Set([
  'attempt',
  'fallback',
  'warning',
  'model',
  'model-fallback',
  'history',
  'wait',
]);

const STREAMED: ReadonlySet<TraceEvent['type']> = new Set(['token', 'reasoning', 'call', 'tool', 'emit']);

/** A finished visit of a node that is not a flow. */
export interface CanvasStep extends TimelineStep {
  /** The node's path on the page; undefined if the source has changed and no longer has the node. */
  readonly pagePath: string | undefined;
}

/** The course of a run, built from its trace events. */
export class RunProgress {
  readonly #resolve: (tracePath: string) => string | undefined;
  readonly #reducer = new StepReducer();
  readonly #entries: Entry[] = [];
  readonly #steps: CanvasStep[] = [];
  /** The sum of all entries, so that following a run does not cost more the longer it is. */
  #overlay = new OverlayBuilder();
  #dropped = 0;
  #latest = 0;

  constructor(file: FlowFile | undefined, root: FlowGraph | undefined) {
    const paths = new Map<string, string | undefined>();
    this.#resolve = (tracePath) => {
      if (!paths.has(tracePath)) {
        const units = (file && root && unitsOfPath(file, root, tracePath)) ?? [];
        paths.set(tracePath, units.flatMap(({ node }) => node?.id ?? []).join('/') || undefined);
      }
      return paths.get(tracePath);
    };
  }

  /** In the order in which they ended. */
  get steps(): readonly CanvasStep[] {
    return this.#steps;
  }

  /** The number that the first of `steps` has in the whole run. */
  get firstStep(): number {
    return this.#dropped;
  }

  /** The path on the page of a node by its path in trace events. */
  pagePathOf(tracePath: string): string | undefined {
    return this.#resolve(tracePath);
  }

  add(event: TraceEvent): void {
    this.#latest = event.at;
    const step = this.#reducer.push(event);
    const path = this.#resolve(event.path);
    if (event.type === 'edge') this.#push({ type: 'edge', path, action: event.action });
    else if (step !== undefined && STREAMED.has(event.type)) {
      // Not an entry: a reply can have thousands of pieces, and the end of the step has them all.
      if (path !== undefined) this.#overlay.refresh(path, step);
    } else if (step !== undefined && !NOT_SHOWN.has(event.type)) {
      if (isLeafEnd(step)) this.#steps.push({ ...step, pagePath: path });
      this.#push({ type: 'step', path, step });
    }
  }

  /** The run after a step, or without one as it is `idleMicros` after the last event. */
  overlayAt(step: number | undefined, idleMicros = 0): RunOverlay {
    if (step === undefined) return this.#overlay.at(this.#latest + idleMicros);
    const overlay = new OverlayBuilder();
    let count = this.#dropped - 1;
    for (const entry of this.#entries) {
      if (entry.type === 'step') {
        // After its last step, a past moment still shows the connection taken and the flows that ended, but not what begins then.
        const isFlowEnd = entry.step.type === 'flow' && entry.step.status !== 'running';
        if (count >= step && !isFlowEnd) break;
        if (isLeafEnd(entry.step)) count += 1;
      }
      overlay.add(entry);
    }
    return overlay;
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#overlay.add(entry);
    if (this.#entries.length <= MAX_ENTRIES * 1.2) return;
    const removed = this.#entries.splice(0, this.#entries.length - MAX_ENTRIES);
    const ended = removed.flatMap((one) => (one.type === 'step' && one.step.status !== 'running' ? [one.step] : []));
    for (const step of ended) this.#reducer.forget(step);
    const steps = ended.filter(isLeafEnd).length;
    this.#steps.splice(0, steps);
    this.#dropped += steps;
    this.#overlay = new OverlayBuilder();
    for (const one of this.#entries) this.#overlay.add(one);
  }
}

function isLeafEnd({ type, status }: TimelineStep): boolean {
  return type === 'node' && status !== 'running';
}
