import type { RunEvent, StepEvent } from './runEvent.ts';
import type { StateChange } from './stateChange.ts';

const MAX_SAID = 200;

/** One visit of a node, or of a flow, whose `post` is a step of its own. Times are microseconds since the run began. */
export interface TimelineStep {
  readonly type: 'node' | 'flow';
  readonly path: string;
  /** The name in its flow. */
  readonly node: string;
  readonly visit: number;
  /** `waiting` is the end of a visit that asked a person. */
  readonly status: 'running' | 'done' | 'failed' | 'waiting';
  readonly startedAt: number;
  readonly finishedAt?: number | undefined;
  /** The numbers of the items or branches in which it ran beside others. */
  readonly lane?: readonly number[] | undefined;
  /** As `post` returned it; absent if it returned none. */
  readonly action?: string | undefined;
  readonly isReplayed: boolean;
  /** In a replay: why `exec` ran although there was a recording. */
  readonly liveBecause?: Extract<RunEvent, { type: 'live' }>['reason'] | undefined;
  /** The end of what it has streamed or emitted so far, in one line. */
  readonly said?: string | undefined;
  /** The files in which its code changed, as one text. */
  readonly liveFiles?: string | undefined;
  readonly retries: number;
  readonly usage: ModelUsage;
  readonly error?: string | undefined;
  /** What the step changed in the shared state. */
  readonly changes: readonly StateChange[];
}

/** Calls of language models, with their tokens and cost. */
export interface ModelUsage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars by list price; calls without a known price add nothing. */
  readonly cost: number;
}

export const NO_USAGE: ModelUsage = { calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 };

export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  if (b === NO_USAGE) return a; // most steps call no model
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cost: a.cost + b.cost,
  };
}

/** How long a step took, in microseconds; 0 while it runs. */
export function microsOf({ startedAt, finishedAt }: TimelineStep): number {
  return (finishedAt ?? startedAt) - startedAt;
}

type Place = Pick<TimelineStep, 'path' | 'visit'>;

/** Folds the events of a run into its steps. */
export class StepReducer {
  readonly #steps = new Map<string, TimelineStep>();

  /**
   * The step that an event is about, as it is after the event. An end without a start, as after lost events, is a step that
   * took no time; any other event of an unknown visit returns undefined.
   */
  push(event: StepEvent): TimelineStep | undefined {
    switch (event.type) {
      case 'node-start':
        return this.#set(begun('node', event));
      case 'flow-start':
        return this.#set(begun('flow', event));
      case 'node-end':
      case 'flow-end': {
        const { at: finishedAt, action, isReplayed } = event;
        const step = this.#at(event) ?? begun(event.type === 'node-end' ? 'node' : 'flow', event);
        return this.#set({ ...step, status: 'done', finishedAt, action, isReplayed });
      }
      case 'error': {
        const step = this.#at(event) ?? begun('node', event);
        return this.#set({ ...step, status: 'failed', finishedAt: event.at, error: event.message });
      }
      case 'pause': {
        const step = this.#at(event) ?? begun('node', event);
        return this.#set({ ...step, status: 'waiting', finishedAt: event.at });
      }
      case 'state':
        return this.#change(event, ({ changes }) => ({ changes: [...changes, ...event.changes] }));
      case 'live':
        return this.#change(event, () => ({ liveBecause: event.reason, liveFiles: event.files }));
      case 'retry':
        return this.#change(event, ({ retries }) => ({ retries: retries + 1 }));
      case 'model': {
        const { inputTokens = 0, outputTokens = 0, estimatedCost: cost = 0 } = event;
        return this.#change(event, ({ usage }) => ({
          usage: addUsage(usage, { calls: 1, inputTokens, outputTokens, cost }),
        }));
      }
      case 'token':
      case 'reasoning':
        return this.#change(event, ({ said = '' }) => ({ said: lastLine(said + event.text) }));
      case 'emit':
        return this.#change(event, () => ({ said: lastLine(textOf(event.data)) }));
      case 'call':
        return this.#change(event, () => ({ said: `${event.name} …` }));
      case 'tool':
        return this.#change(event, () => ({ said: lastLine(`${event.name}: ${event.error ?? 'done'}`) }));
      case 'attempt':
      case 'edge':
      case 'wait':
      case 'fallback':
      case 'model-fallback':
      case 'history':
      case 'warning':
        break;
    }
    return this.#at(event);
  }

  /** The steps that have not ended, and those that were not forgotten since. */
  get unfinished(): readonly TimelineStep[] {
    return [...this.#steps.values()];
  }

  /** Frees the memory of a finished step; later events of its visit are ignored. */
  forget(step: Place): void {
    this.#steps.delete(visitKey(step));
  }

  #at(place: Place): TimelineStep | undefined {
    return this.#steps.get(visitKey(place));
  }

  #set(step: TimelineStep): TimelineStep {
    this.#steps.set(visitKey(step), step);
    return step;
  }

  #change(place: Place, change: (step: TimelineStep) => Partial<TimelineStep>): TimelineStep | undefined {
    const step = this.#at(place);
    return step && this.#set({ ...step, ...change(step) });
  }
}

/** The end of a text, in one line. */
function lastLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(-MAX_SAID);
}

function textOf(data: unknown): string {
  return (typeof data === 'string' ? data : (JSON.stringify(data) ?? '')).slice(-2 * MAX_SAID);
}

function begun(
  type: TimelineStep['type'],
  { path, node, visit, at, lane }: Place & Pick<TimelineStep, 'node' | 'lane'> & { readonly at: number },
): TimelineStep {
  return {
    type,
    path,
    node,
    visit,
    status: 'running',
    startedAt: at,
    ...(lane !== undefined && { lane }),
    isReplayed: false,
    retries: 0,
    usage: NO_USAGE,
    changes: [],
  };
}

export function visitKey({ path, visit }: Place): string {
  return `${visit} ${path}`;
}
