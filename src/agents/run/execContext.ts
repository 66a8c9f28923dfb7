/** The last argument of every hook. */
export interface NodeContext {
  /** Aborted with the run. In `exec` also at the node's timeout, and when another item of a parallel batch fails. */
  readonly signal: AbortSignal;
  /** Sends data to `onEvent` as an event of type `emit`, while the hook runs. Does nothing in a run that nothing observes. */
  readonly emit: (data: unknown) => void;
}

/** The last argument of `exec` and `execFallback`. */
export interface ExecContext extends NodeContext {
  /** From 1; above 1 in a retry. */
  readonly attempt: number;
}

/** The part of a visit that contexts need. */
interface Emitter {
  readonly signal: AbortSignal;
  emit(data: unknown, item?: number): void;
}

/** The context of a run that nothing observes, the same for all its nodes. */
export class UnobservedContext implements ExecContext {
  readonly attempt = 1;
  readonly emit = ignore;
  #signal: AbortSignal | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Without a signal of the run, one that never fires, created on first use; most runs never use it. */
  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }
}

/** The context of one visit. `emit` is created on first use and bound, so that hooks can destructure it. */
export class VisitContext implements ExecContext {
  readonly attempt = 1;
  readonly #visit: Emitter;

  constructor(visit: Emitter) {
    this.#visit = visit;
  }

  get signal(): AbortSignal {
    return this.#visit.signal;
  }

  get emit(): (data: unknown) => void {
    return emitter(this.#visit);
  }
}

/** The `emit` of a visit, or of one of its items. */
export function emitter(visit: Emitter | undefined, item?: number): (data: unknown) => void {
  return visit === undefined ? ignore : (data) => visit.emit(data, item);
}

function ignore(): void {}
