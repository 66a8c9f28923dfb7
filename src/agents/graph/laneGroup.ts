import { AppError, messageOf } from '../../core/errors.ts';
import { BudgetError } from '../run/budget.ts';
import { isPaused, PausedError } from '../run/pause.ts';
import { type RunScope, scopes } from '../run/runScope.ts';
import type { Checkpoint, ResumedParts, SavedPart, WaitingPart } from '../records/recordSchemas.ts';
import { type Awaitable, isPromise } from './awaitable.ts';
import { plainState, positionOf, resumeIn } from './resumePoints.ts';
import { DEFAULT_ACTION, type FlowUnit, Frame, type GraphNode, type Lane } from './unit.ts';
import { walk } from './walk.ts';

/** What to walk: items through the same graph, or branches through one node each. */
export interface LanePlan {
  readonly flow: FlowUnit;
  readonly parent: Frame;
  readonly isItems: boolean;
  /** The most lanes at a time; undefined for one after another. */
  readonly concurrency: number | undefined;
  entryOf(index: number): GraphNode;
  /** What makes the state of each lane. */
  readonly states: readonly (() => Awaitable<unknown>)[];
}

/** An item or branch that has begun. */
interface Part {
  readonly state: unknown;
  readonly waiting?: WaitingPart | undefined;
  /** What it threw, if it began to wait in this run. */
  readonly error?: PausedError | undefined;
}

/** Walks a flow once for each of several states, and returns the states in their order. */
export function walkLanes(plan: LanePlan): Promise<unknown[]> {
  return new LaneGroup(plan).walk();
}

class LaneGroup {
  readonly #plan: LanePlan;
  readonly #parts: Part[] = [];
  readonly #resumed: ResumedParts | undefined;

  constructor(plan: LanePlan) {
    const { parent } = plan;
    this.#plan = plan;
    this.#resumed = parent.resumedParts;
    parent.resumedParts = undefined;
    const { parts, part } = this.#resumed ?? { parts: [], part: -1 };
    if (part >= parts.length || parts.length > plan.states.length) {
      throw new AppError(
        'bad-input',
        `The checkpoint does not fit the items or branches of "${plan.flow.name}". Start the run from the beginning.`,
      );
    }
    for (const { state, waiting } of parts) this.#parts.push({ state: structuredClone(state), waiting });
  }

  async walk(): Promise<unknown[]> {
    const { states, concurrency, parent } = this.#plan;
    const begun = this.#resumed;
    const left = [...states.keys()].filter(
      (index) => begun === undefined || index === begun.part || index >= begun.parts.length,
    );
    if (concurrency === undefined) {
      for (const index of left) {
        parent.scope.throwIfAborted();
        await this.#walkLane(index, parent.scope, false);
      }
    } else await this.#walkTogether(left, concurrency);
    await this.#raisePause();
    return this.#parts.map(({ state }) => state);
  }

  /** No further lane begins after one has failed, and the signal of the running ones is aborted. One that waits does not disturb the others. */
  async #walkTogether(left: readonly number[], concurrency: number): Promise<void> {
    const { parent } = this.#plan;
    const controller = new AbortController();
    const { signal } = controller;
    const outer = parent.scope.context.signal;
    const forward = (): void => controller.abort(outer.reason);
    outer.addEventListener('abort', forward, { once: true });
    const open = new Set<RunScope>();
    const queue = left.values();
    const line = async (): Promise<void> => {
      for (const index of queue) {
        signal.throwIfAborted();
        const scope = parent.scope.openLane(signal);
        open.add(scope);
        try {
          await scopes.run(scope, () => this.#walkLane(index, scope, true));
        } catch (error) {
          if (!isPaused(error)) throw error;
          this.#wait(index, error);
        } finally {
          parent.scope.closeLane(scope);
          open.delete(scope);
        }
      }
    };
    try {
      await Promise.all(Array.from({ length: Math.min(concurrency, left.length) }, line));
    } catch (error) {
      controller.abort(error);
      for (const scope of open) scope.fail(error);
      throw error;
    } finally {
      outer.removeEventListener('abort', forward);
    }
  }

  async #walkLane(index: number, scope: RunScope, isParallel: boolean): Promise<void> {
    const { flow, parent, isItems } = this.#plan;
    const isResumed = this.#resumed?.part === index;
    try {
      if (!isResumed) {
        const state = this.#plan.states[index]?.();
        this.#parts[index] = { state: isPromise(state) ? await state : state };
        scope.context.signal.throwIfAborted();
      }
      const lane: Lane = { index, isItem: isItems, isParallel, save: () => this.#saved(index, isParallel) };
      const entry = this.#plan.entryOf(index);
      const frame = new Frame(parent.run, scope, entry, flow, parent, lane);
      const first = isResumed && parent.resume !== undefined ? resumeIn(frame, parent, flow) : entry;
      await walk(first, this.#parts[index]?.state, frame);
    } catch (error) {
      if (isPaused(error) || error instanceof BudgetError || scope.context.signal.aborted) throw error;
      throw this.#named(index, error);
    }
  }

  /** The error with the item or branch in its message, which would not be identifiable otherwise. */
  #named(index: number, cause: unknown): Error {
    const { parent, isItems } = this.#plan;
    const { label } = parent.node;
    const name = isItems ? `${label}[${index}]` : `${label}/${this.#plan.entryOf(index).label}`;
    const message = `${name} failed: ${messageOf(cause)}`;
    return cause instanceof AppError ? new AppError(cause.code, message, { cause }) : new Error(message, { cause });
  }

  /** All lanes that have begun, for a checkpoint in the lane with this number. For parallel lanes, they are added when all have ended. */
  #saved(part: number, isParallel: boolean): ResumedParts {
    return isParallel ? { parts: [], part } : this.#save(part);
  }

  #save(part: number): ResumedParts {
    const { label } = this.#plan.parent.node;
    const parts = this.#parts.map(({ state, waiting }, index): SavedPart => {
      const plain = plainState(state, `the state of ${label}[${index}]`);
      return { state: plain, ...(waiting !== undefined && index !== part && { waiting }) };
    });
    return { parts, part };
  }

  #wait(index: number, error: PausedError): void {
    const { path, visit, position, pause } = error.checkpoint;
    if (pause === undefined) throw error;
    let depth = 1;
    for (let at: Frame | undefined = this.#plan.parent; at.parent !== undefined; at = at.parent) depth += 1;
    const waiting = { path, visit, pause, position: position.slice(depth) };
    this.#parts[index] = { state: this.#parts[index]?.state, waiting, error };
  }

  /** Ends the run if lanes wait: it asks the question of the first one. The others ask theirs after that is answered. */
  async #raisePause(): Promise<void> {
    const index = this.#parts.findIndex(({ waiting }) => waiting !== undefined);
    const { waiting, error } = this.#parts[index] ?? {};
    if (waiting === undefined) return;
    const { parent } = this.#plan;
    const { path, visit, pause, position } = waiting;
    const checkpoint: Checkpoint = {
      version: 1,
      path,
      visit,
      action: DEFAULT_ACTION,
      shared: plainState(parent.run.shared, 'shared'),
      position: [...positionOf(parent, this.#save(index)), ...position],
      pause,
    };
    // The object of the error knows the live schema of the answer.
    const whole = Object.assign(error?.checkpoint ?? {}, checkpoint);
    if (parent.order === undefined) await parent.run.options.onCheckpoint?.(whole);
    const { question, choices } = pause;
    throw error ?? new PausedError(position.at(-1)?.node ?? '', whole, { question, choices });
  }
}
