import { performance } from 'node:perf_hooks'; // the global is a getter that costs a tenth of a traced visit
import { setImmediate as turn } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import type { RunBudget } from './budget.ts';
import type { HostedRun } from './runHost.ts';
import type { RunOptions } from './runOptions.ts';
import { RunScope } from './runScope.ts';
import type { Telemetry, TraceEvent, TraceListener } from '../records/trace.ts';
import { requireWholeNumber } from '../schema/optionShape.ts';
import { printable } from '../../core/text/printable.ts';

// A loop of sync nodes never leaves the microtask queue, so timers, sockets and an abort would wait for its end.
const TURN_EVERY_MS = 20;
const VISITS_BETWEEN_CLOCKS = 128;
const REMEMBERED_VISITS = 12;

interface RunParts {
  /** The shared state of the outermost unit. */
  readonly shared?: unknown;
  readonly telemetry?: Telemetry | undefined;
  readonly hosted?: HostedRun | undefined;
  readonly budget?: RunBudget | undefined;
}

/** The state of one run. Nodes and flows store nothing of it, so that one flow can run many times concurrently. */
export class RunState {
  readonly options: RunOptions;
  readonly shared: unknown;
  readonly scope: RunScope;
  // `performance.now()` at the start; 0 in an unobserved run, which never reads the clock.
  readonly #startedAt: number;
  /** Receives the events; undefined once the run is aborted. */
  listener: TraceListener | undefined;
  readonly telemetry: Telemetry | undefined;
  /** The host's side of the run, if there is a host. */
  readonly hosted: HostedRun | undefined;
  readonly budget: RunBudget | undefined;
  /** Whether visits need a path, a number and times. */
  readonly isObserved: boolean;
  /** Whether something waits for each step: the host, or the listener of checkpoints. */
  readonly hasSteps: boolean;
  /** The last result of `micros`: also the time of events that follow without a hook or a wait in between. */
  latest = 0;
  #visits = 0;
  #lastTurn = 0;
  readonly #maxVisits: number;
  readonly #isLimited: boolean;
  #recent: string[] | undefined;

  /** @throws RangeError if `maxVisits` is not a whole number above 0. */
  constructor(options: RunOptions, { shared, telemetry, hosted, budget }: RunParts = {}) {
    const { maxVisits = Number.POSITIVE_INFINITY, signal } = options;
    if (maxVisits !== Number.POSITIVE_INFINITY) requireWholeNumber('maxVisits', maxVisits);
    this.options = options;
    this.shared = shared;
    this.telemetry = telemetry;
    this.hosted = hosted;
    this.budget = budget;
    this.listener = isListener(options) ? options : undefined;
    this.hasSteps = hosted !== undefined || options.onCheckpoint !== undefined;
    this.isObserved =
      this.hasSteps ||
      this.listener !== undefined ||
      telemetry !== undefined ||
      options.resume !== undefined ||
      options.record !== undefined ||
      options.replay !== undefined;
    this.#startedAt = this.isObserved ? performance.now() : 0;
    this.#maxVisits = maxVisits;
    this.#isLimited = budget !== undefined || maxVisits !== Number.POSITIVE_INFINITY;
    this.scope = new RunScope(this, signal);
  }

  /** The time of an event: whole microseconds since the start. Reading the clock costs a tenth of a traced visit. */
  micros(): number {
    this.latest = Math.round((performance.now() - this.#startedAt) * 1000);
    return this.latest;
  }

  /** Counts a visit. Returns a promise now and then, which the walk awaits to let the event loop turn. */
  enter(name: string): Promise<void> | undefined {
    const visits = ++this.#visits;
    if (this.#isLimited) this.#checkLimits(name);
    if (visits % VISITS_BETWEEN_CLOCKS !== 0) return undefined;
    const now = performance.now();
    if (now - this.#lastTurn < TURN_EVERY_MS) return undefined;
    this.#lastTurn = now;
    return turn();
  }

  /** Ends the run and its trace: each visit in progress fails with the abort, and later events of its hook are dropped. */
  abort(reason: unknown): void {
    try {
      this.scope.fail(reason);
    } finally {
      this.listener = undefined;
    }
  }

  /** Reports to the listener, or to the console if there is none, so that no warning is lost. Returns the event. */
  warn(
    place: { readonly path: string; readonly node: string; readonly visit: number },
    action: string,
    message: string,
  ): TraceEvent {
    if (this.options.onEvent === undefined) writeWarning(message);
    const event: TraceEvent = { type: 'warning', ...place, at: this.micros(), action, message };
    this.listener?.onEvent(event);
    return event;
  }

  #checkLimits(name: string): void {
    this.budget?.checkVisit();
    if (this.#maxVisits === Number.POSITIVE_INFINITY) return;
    this.#recent ??= [];
    if (this.#visits > this.#maxVisits) {
      throw new AppError(
        'limit',
        `The run reached its limit of ${this.#maxVisits} visits before it ended. The last nodes were: ` +
          `${this.#recent.join(' -> ')} -> ${name}. Raise maxVisits, or end the loop.`,
      );
    }
    this.#recent.push(name);
    if (this.#recent.length > REMEMBERED_VISITS) this.#recent.shift();
  }
}

// Uses the options themselves: a bound function would cost more at each event than the call.
function isListener(options: RunOptions): options is RunOptions & TraceListener {
  return options.onEvent !== undefined;
}

/** Writes a warning that no listener receives. */
export function writeWarning(message: string): void {
  globalThis.console.warn(printable`farwharf: ${message}`);
}
