import { AsyncLocalStorage } from 'node:async_hooks';
import type {
  HistoryReport,
  ModelCall,
  ModelFallbackReport,
  ModelWait,
  ToolReport,
  VisitSpan,
} from '../records/trace.ts';
import type { RunBudget } from './budget.ts';
import { type ExecContext, UnobservedContext } from './execContext.ts';
import { CallJournal } from './callJournal.ts';
import type { HostedRun } from './runHost.ts';
import type { RunOptions } from './runOptions.ts';

/** The run's view of a visit in progress. */
export interface OpenVisit {
  readonly path: string;
  /** The name of the node in its flow. */
  readonly node: string;
  readonly number: number;
  /** Its span, if an OpenTelemetry SDK is registered. */
  readonly span: VisitSpan | undefined;
  model(call: ModelCall): void;
  wait(wait: ModelWait): void;
  modelFallback(report: ModelFallbackReport): void;
  token(text: string): void;
  reasoning(text: string): void;
  history(report: HistoryReport): void;
  call(name: string): void;
  tool(report: ToolReport): void;
  /** Ends the visit and returns to the enclosing one. */
  failed(error: unknown): void;
}

/** The part of a run that model clients need. */
interface ScopeRun {
  readonly hosted: HostedRun | undefined;
  readonly budget: RunBudget | undefined;
  readonly options: Pick<RunOptions, 'record' | 'replay' | 'input'>;
}

/** In place of the journal of an `exec` in which nothing was done yet. */
export const NO_CALLS: unique symbol = Symbol('farwharf.noCalls');

/** What code in a hook inherits without being given it: the run, the visit in progress, and what ends its requests. */
export class RunScope {
  readonly run: ScopeRun;
  readonly signal: AbortSignal | undefined;
  /** The context of all hooks in an unobserved run. */
  readonly context: ExecContext;
  /** The innermost visit in progress, if visits are observed; it receives the reports of model calls. */
  visit: OpenVisit | undefined;
  /** What the `exec` in progress has done; undefined outside of one. */
  calls: CallJournal | typeof NO_CALLS | undefined;
  /** Whether its walk must not go on. */
  #isEnded = false;
  /** The visit around this scope, which it does not end. */
  readonly #outer: OpenVisit | undefined;
  /** Created on first use: a short run pays for each object. */
  #lanes: Set<RunScope> | undefined;

  constructor(run: ScopeRun, signal: AbortSignal | undefined, visit?: OpenVisit) {
    this.run = run;
    this.signal = signal;
    this.context = new UnobservedContext(signal);
    this.visit = visit;
    this.#outer = visit;
  }

  /** The scope of a walk that runs beside others, with visits of its own. */
  openLane(signal: AbortSignal): RunScope {
    const lane = this.under(signal);
    this.#lanes ??= new Set();
    this.#lanes.add(lane);
    return lane;
  }

  closeLane(lane: RunScope): void {
    this.#lanes?.delete(lane);
  }

  /** @throws the signal's reason once it is aborted. */
  throwIfAborted(): void {
    if (this.#isEnded) this.signal?.throwIfAborted();
  }

  /** Ends the visits in progress, those of lanes first, after an abort of the signal. */
  fail(reason: unknown): void {
    this.#isEnded = true;
    for (const lane of this.#lanes ?? []) lane.fail(reason);
    this.#lanes = undefined;
    while (this.visit !== undefined && this.visit !== this.#outer) this.visit.failed(reason);
  }

  /** The journal of the `exec` in progress, created by the first that needs it; undefined outside of one. */
  get journal(): CallJournal | undefined {
    if (this.calls === NO_CALLS) this.calls = this.openJournal(undefined);
    return this.calls;
  }

  /** A journal with what earlier runs did in the same `exec`. */
  openJournal(item: number | undefined): CallJournal {
    const { record, replay } = this.run.options;
    const { path, number: visit } = this.visit ?? {};
    if (path === undefined || visit === undefined) return new CallJournal(item, { earlier: [], keep: () => {} });
    const place = { path, visit, item };
    const earlier = replay?.steps?.(place) ?? [];
    // Also recorded by this run, which may be the next to be resumed or replayed.
    if (!Object.is(record, replay)) for (const step of earlier) record?.keepStep?.(place, step);
    return new CallJournal(item, { earlier, keep: (step) => record?.keepStep?.(place, step) });
  }

  /** The same visit under another signal: that of an attempt with a timeout, or of the items of a parallel batch. */
  under(signal: AbortSignal, calls?: CallJournal): RunScope {
    const scope = new RunScope(this.run, signal, this.visit);
    scope.calls = calls;
    return scope;
  }
}

/** The scope of the current code, for model clients. Not set in a run that nothing observes or can end. */
export const scopes = new AsyncLocalStorage<RunScope>();

/** The signal that aborts when either does. Undefined if both are. */
export function eitherSignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  return AbortSignal.any([a, b]);
}
