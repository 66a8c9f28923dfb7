import { messageOf } from '../../core/errors.ts';
import { type ExecContext, VisitContext } from './execContext.ts';
import type { PauseRequest } from './pause.ts';
import type { RunState } from './runState.ts';
import type { OpenVisit, RunScope } from './runScope.ts';
import {
  cheapSize,
  type HistoryReport,
  type ModelCall,
  type ModelFallbackReport,
  type ModelWait,
  type ToolReport,
  type TraceEvent,
  type VisitSpan,
} from '../records/trace.ts';

/** The part of a walk that its visits need. */
interface Walk {
  readonly run: RunState;
  readonly scope: RunScope;
  /** The current node. */
  readonly node: { readonly label: string; readonly isFlow: boolean };
  /** Where it runs beside others. */
  readonly order: readonly number[] | undefined;
}

/** One visit of one node in an observed run: measures its steps and reports them to the listener. */
export class ObservedVisit implements OpenVisit {
  readonly path: string;
  readonly node: string;
  readonly number: number;
  /** The context of its hooks. */
  readonly context: ExecContext;
  readonly span: VisitSpan | undefined;
  isReplayed = false;
  readonly #walk: Walk;
  /** The visit of the enclosing flow. */
  readonly #outer: OpenVisit | undefined;
  readonly #isFlow: boolean;
  // In microseconds of the run, like all times here.
  readonly #startedAt: number;
  #finishedAt = 0;
  #isOver = false;
  #preparedAt = 0;
  #executedAt = 0;
  #prepSize: number | undefined;
  #execSize: number | undefined;

  // Not from an object with all of it: that would be one more for each visit.
  constructor(walk: Walk, path: string, number: number) {
    const { run, scope } = walk;
    const { label, isFlow } = walk.node;
    this.#walk = walk;
    this.#outer = scope.visit;
    scope.visit = this;
    this.context = new VisitContext(this);
    this.path = path;
    this.node = label;
    this.number = number;
    this.#isFlow = isFlow;
    this.#startedAt = run.latest;
    const { telemetry, listener } = run;
    if (listener === undefined && telemetry === undefined) return;
    const type = isFlow ? 'flow-start' : 'node-start';
    const at = this.#startedAt;
    const lane = walk.order;
    // Without a key that is undefined: a trace contains thousands of these.
    const event: TraceEvent =
      lane === undefined
        ? { type, path, node: label, visit: number, at }
        : { type, path, node: label, visit: number, at, lane };
    this.span = telemetry?.start(event, this.#outer?.span);
    listener?.onEvent(event);
  }

  get run(): RunState {
    return this.#walk.run;
  }

  get signal(): AbortSignal {
    return this.#walk.scope.context.signal;
  }

  /** Whether a recording is read or written in this run. */
  get isRemembered(): boolean {
    return this.run.options.record !== undefined || this.run.options.replay !== undefined;
  }

  prepared(value: unknown): void {
    this.#preparedAt = this.run.micros();
    this.#prepSize = cheapSize(value);
  }

  executed(value: unknown): void {
    // A flow is done when its last node is done.
    this.#executedAt = this.#isFlow ? this.run.latest : this.run.micros();
    this.#execSize = cheapSize(value);
  }

  finished(action: unknown): void {
    if (this.#isOver) return;
    const now = this.run.micros();
    this.#finishedAt = now;
    this.#isOver = true;
    this.#walk.scope.visit = this.#outer;
    this.#report({
      type: this.#isFlow ? 'flow-end' : 'node-end',
      path: this.path,
      node: this.node,
      visit: this.number,
      at: now,
      action: typeof action === 'string' ? action : undefined,
      prepMicros: this.#preparedAt - this.#startedAt,
      execMicros: this.#executedAt - this.#preparedAt,
      postMicros: now - this.#executedAt,
      prepSize: this.#prepSize,
      execSize: this.#execSize,
      isReplayed: this.isReplayed,
    });
  }

  attempt(attempt: number, item: number | undefined): void {
    this.#report({
      type: 'attempt',
      path: this.path,
      node: this.node,
      visit: this.number,
      at: attempt === 1 && item === undefined ? this.#preparedAt : this.run.micros(),
      attempt,
      item,
    });
  }

  retry(attempt: number, waitMs: number, error: unknown, item: number | undefined): void {
    this.#report({ type: 'retry', ...this.#place(), attempt, waitMs, message: messageOf(error), item });
  }

  fallback(error: unknown, item: number | undefined): void {
    this.#report({ type: 'fallback', ...this.#place(), message: messageOf(error), item });
  }

  edge(action: string, to: string | null): void {
    this.#report({
      type: 'edge',
      path: this.path,
      node: this.node,
      visit: this.number,
      at: this.#finishedAt,
      action,
      to,
    });
  }

  failed(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#walk.scope.visit = this.#outer;
    this.#report({ type: 'error', ...this.#place(), message: messageOf(error) });
  }

  /** Ends the visit, because the run waits for a person. */
  paused({ question, choices }: PauseRequest): void {
    this.#isOver = true;
    this.#walk.scope.visit = this.#outer;
    this.#report({ type: 'pause', ...this.#place(), question, ...(choices && { choices }) });
  }

  model(call: ModelCall): void {
    this.#report({ type: 'model', ...this.#place(), ...call });
  }

  wait(wait: ModelWait): void {
    if (this.#isOver) return;
    this.#report({ type: 'wait', ...this.#place(), ...wait });
  }

  modelFallback(report: ModelFallbackReport): void {
    if (this.#isOver) return;
    this.#report({ type: 'model-fallback', ...this.#place(), ...report });
  }

  history(report: HistoryReport): void {
    if (this.#isOver) return;
    this.#report({ type: 'history', ...this.#place(), ...report });
  }

  /** Reports that a call of a tool begins. */
  call(name: string): void {
    if (this.#isOver) return;
    this.#report({ type: 'call', ...this.#place(), name });
  }

  tool(report: ToolReport): void {
    this.#report({ type: 'tool', ...this.#place(), ...report });
  }

  /** Reports a piece of a streamed reply. */
  token(text: string): void {
    if (this.#isOver) return;
    this.#report({ type: 'token', ...this.#place(), text });
  }

  /** Reports a piece of streamed reasoning. */
  reasoning(text: string): void {
    if (this.#isOver) return;
    this.#report({ type: 'reasoning', ...this.#place(), text });
  }

  /** Reports what a hook emits; dropped after the visit. */
  emit(data: unknown, item?: number): void {
    if (this.#isOver) return;
    this.#report({ type: 'emit', ...this.#place(), data, item });
  }

  #report(event: TraceEvent): void {
    this.span?.onEvent(event);
    this.run.listener?.onEvent(event);
  }

  #place(): { path: string; node: string; visit: number; at: number } {
    return { path: this.path, node: this.node, visit: this.number, at: this.run.micros() };
  }
}
