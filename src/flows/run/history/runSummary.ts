import type { FlowOutcome, RecordedOutcome } from '../protocol/flowOutcome.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import { addUsage, type ModelUsage, NO_USAGE, StepReducer } from '../protocol/timelineStep.ts';
import type { RunRecord } from './runRecord.ts';

// A file can run a flow in a loop.
const MAX_OTHERS = 20;

/** Counts the steps and model calls of all flows of a file while they run, in constant memory. */
export class RunTotals {
  readonly #flowName: string | undefined;
  readonly #running = new Map<number, StepReducer>();
  readonly #names: string[] = [];
  #steps = 0;
  #usage: ModelUsage = NO_USAGE;

  /** @param flowName the flow that was asked for, if any. */
  constructor(flowName?: string) {
    this.#flowName = flowName;
  }

  /** The visits of nodes that began, and of flows that ended. */
  get steps(): number {
    return this.#steps;
  }

  push(event: RunEvent): void {
    if (event.type === 'run-start') {
      this.#running.set(event.run, new StepReducer());
      const isWanted = event.name === this.#flowName && !this.#names.includes(event.name);
      if (this.#names.length <= MAX_OTHERS || isWanted) this.#names.push(event.name);
      return;
    }
    const reducer = this.#running.get(event.run);
    if (event.type === 'run-end') {
      this.#usage = unfinishedUsage(this.#usage, reducer);
      this.#running.delete(event.run);
      return;
    }
    const step = reducer?.push(event);
    if (event.type === 'node-start') this.#steps += 1;
    if (reducer === undefined || step === undefined || step.status === 'running') return;
    if (step.type === 'flow') this.#steps += 1;
    this.#usage = addUsage(this.#usage, step.usage);
    reducer.forget(step);
  }

  /** The part of a record that is known when a run has ended. */
  summary(outcome: FlowOutcome): Pick<RunRecord, 'finishedAt' | 'name' | 'others' | 'steps' | 'usage' | 'outcome'> {
    const nameIndex = this.#names.findIndex((name) => name === this.#flowName);
    const main = nameIndex < 0 ? 0 : nameIndex;
    const name = this.#names[main];
    const others = this.#names.filter((_, index) => index !== main).slice(0, MAX_OTHERS);
    const usage = [...this.#running.values()].reduce(unfinishedUsage, this.#usage);
    return {
      finishedAt: new Date().toISOString(),
      ...(name !== undefined && { name, steps: this.#steps, usage: { ...usage } }),
      ...(others.length > 0 && { others }),
      outcome: recordedOutcomeOf(outcome),
    };
  }
}

/** What a record stores of an outcome. */
export function recordedOutcomeOf(outcome: FlowOutcome): RecordedOutcome {
  if (outcome.type !== 'done') return outcome;
  const { type, exitCode, action } = outcome;
  return { type, exitCode, ...(action !== undefined && { action }) };
}

function unfinishedUsage(sum: ModelUsage, reducer: StepReducer | undefined): ModelUsage {
  return (reducer?.unfinished ?? []).reduce((total, { usage }) => addUsage(total, usage), sum);
}
