import { type NodeState, visited } from '../../../flows/run/protocol/nodeState.ts';
import type { TimelineStep } from '../../../flows/run/protocol/timelineStep.ts';

/** What a run has done so far, drawn over the flow. */
export interface RunOverlay {
  /** By the node's path on the page. */
  readonly nodes: ReadonlyMap<string, NodeState>;
  /** How often each connection was taken, by the source's path and the action. */
  readonly taken: ReadonlyMap<string, number>;
}

export const takenKey = (path: string, action: string): string => `${path}\n${action}`;

/** What happened in a run: a step as it was at that moment, or a connection that was taken. */
export type Entry =
  | { readonly type: 'step'; readonly path: string | undefined; readonly step: TimelineStep }
  | { readonly type: 'edge'; readonly path: string | undefined; readonly action: string };

/** Sums up the entries of a run in their order. */
export class OverlayBuilder implements RunOverlay {
  readonly nodes = new Map<string, NodeState>();
  readonly taken = new Map<string, number>();
  /** Nodes without the visit that is running. */
  readonly #finished = new Map<string, NodeState>();
  readonly #running = new Map<string, TimelineStep>();

  add(entry: Entry): void {
    if (entry.type === 'edge') {
      if (entry.path === undefined) return;
      const key = takenKey(entry.path, entry.action);
      this.taken.set(key, (this.taken.get(key) ?? 0) + 1);
      return;
    }
    const { path = '', step } = entry; // no node on the page has an empty path: it collects the nodes that are gone
    const state = visited(this.#finished.get(path), step);
    this.nodes.set(path, state);
    if (step.status === 'running') {
      this.#running.set(path, step);
      return;
    }
    this.#running.delete(path);
    this.#finished.set(path, state);
  }

  /** Replaces the running visit of a node by what it is now. */
  refresh(path: string, step: TimelineStep): void {
    if (!this.#running.has(path)) return;
    this.#running.set(path, step);
    this.nodes.set(path, visited(this.#finished.get(path), step));
  }

  /** A copy in which the time of running nodes counts until `now`, in microseconds of the run. */
  at(now: number): RunOverlay {
    const nodes = new Map(this.nodes);
    for (const [path, step] of this.#running) {
      const finishedAt = Math.max(now, step.startedAt);
      nodes.set(path, visited(this.#finished.get(path), { ...step, finishedAt }));
    }
    return { nodes, taken: new Map(this.taken) };
  }
}
