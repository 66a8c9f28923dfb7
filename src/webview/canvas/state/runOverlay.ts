/** One finished visit of a node that is no flow. */
export interface RunStep {
  /** The path in the trace, as events name it. */
  readonly tracePath: string;
  /** The path on the page; undefined where the source has changed and the node is gone. */
  readonly path: string | undefined;
  readonly visit: number;
  readonly label: string;
  readonly startedAtMicros: number;
  readonly micros: number;
  readonly action: string | undefined;
  /** Why it failed. */
  readonly message: string | undefined;
  readonly isReplayed: boolean;
  readonly tokens: number;
  /** US dollars; undefined where no price is known. */
  readonly cost: number | undefined;
}

type NodeState = 'running' | 'done' | 'failed';

/** What a node has done up to a step. */
export interface NodeRun {
  state: NodeState;
  visits: number;
  micros: number;
  tokens: number;
  cost: number | undefined;
  message: string | undefined;
  retries: number;
}

/** What is drawn over the flow. */
export interface RunOverlay {
  /** By the node's path on the page. */
  readonly nodes: ReadonlyMap<string, NodeRun>;
  /** How often each connection was taken, by the source's path and the action. */
  readonly taken: ReadonlyMap<string, number>;
}

export const takenKey = (path: string, action: string): string => `${path}\n${action}`;

/** What a run keeps of an event. */
export type Entry =
  | { readonly type: 'start'; readonly path: string | undefined; readonly at: number }
  | { readonly type: 'step'; readonly step: RunStep }
  | {
      readonly type: 'flow-end';
      readonly path: string | undefined;
      readonly micros: number;
      readonly message?: string | undefined;
    }
  | { readonly type: 'retry'; readonly path: string | undefined; readonly message: string }
  | { readonly type: 'edge'; readonly path: string | undefined; readonly action: string };

/** Sums up the entries of a run, one after the other. */
export class OverlayBuilder implements RunOverlay {
  readonly nodes = new Map<string, NodeRun>();
  readonly taken = new Map<string, number>();
  readonly #startedAt = new Map<NodeRun, number>();

  /** A node that runs has run until `now`, in microseconds of the run. */
  addRunningTime(now: number): void {
    for (const [run, at] of this.#startedAt) if (run.state === 'running') run.micros += Math.max(0, now - at);
  }

  add(entry: Entry): void {
    switch (entry.type) {
      case 'start': {
        const run = this.#runOf(entry.path);
        run.state = 'running';
        run.visits += 1;
        this.#startedAt.set(run, entry.at);
        return;
      }
      case 'step': {
        const { path, message, micros, tokens, cost } = entry.step;
        const run = this.#runOf(path);
        run.tokens += tokens;
        if (cost !== undefined) run.cost = (run.cost ?? 0) + cost;
        this.#finish(run, micros, message);
        return;
      }
      case 'flow-end':
        this.#finish(this.#runOf(entry.path), entry.micros, entry.message);
        return;
      case 'retry':
        this.#runOf(entry.path).retries += 1;
        return;
      case 'edge': {
        if (entry.path === undefined) return;
        const key = takenKey(entry.path, entry.action);
        this.taken.set(key, (this.taken.get(key) ?? 0) + 1);
        return;
      }
    }
  }

  #finish(run: NodeRun, micros: number, message: string | undefined): void {
    run.state = message === undefined ? 'done' : 'failed';
    run.message = message;
    run.micros += micros;
  }

  // Nodes that are not on the page any more are counted on one that nothing shows.
  #runOf(path = ''): NodeRun {
    const known = this.nodes.get(path);
    if (known !== undefined) return known;
    const run: NodeRun = {
      state: 'done',
      visits: 0,
      micros: 0,
      tokens: 0,
      cost: undefined,
      message: undefined,
      retries: 0,
    };
    this.nodes.set(path, run);
    return run;
  }
}
