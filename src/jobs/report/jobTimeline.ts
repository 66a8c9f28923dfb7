import { textField } from '../../core/jsonFields.ts';
import { formatDuration } from '../../core/text/format.ts';
import { isOver, type JobRecord, secondsSince } from '../ledger/record.ts';
import { stateWord } from '../ledger/jobIcon.ts';
import type { SpooledEvent } from '../log/spool.ts';
import { stateOf } from '../log/jobPatch.ts';
import { describeWaiting, isSameWait } from './waitingText.ts';

// A job has few phases, but a service may send any number.
const MAX_PHASES = 200;

/** A part of a job's life: in one state, for one reason. */
export interface Phase {
  readonly state: string;
  /** Why the job waits or how it ended, if the service says so. */
  readonly reason: string | null;
  /** When it began, ISO 8601. */
  readonly at: string;
  /** Null for the state in which the job ended, and if the clock of the service is too far ahead. */
  readonly seconds: number | null;
}

type Start = Omit<Phase, 'seconds'>;

/** Collects the phases of a job from its `state` events. */
export class Timeline {
  readonly #starts: Start[] = [];

  push({ event, data, at }: SpooledEvent): void {
    const state = stateOf(data);
    if (event !== 'state' || state === undefined) return;
    const reason = textField(data, 'reason') ?? null;
    const last = this.#starts.at(-1);
    if (last?.state === state && last.reason === reason) return;
    const start = { state, reason, at: timeOf(textField(data, 'at')) ?? at };
    if (last?.state === state && isSameWait(last.reason, reason, Date.parse(start.at))) {
      this.#starts.splice(-1, 1, { ...last, reason });
      return;
    }
    this.#starts.push(start);
    if (this.#starts.length > MAX_PHASES) this.#starts.shift();
  }

  /** The last 200 phases; from the times in the record if the service sends no states. @param now milliseconds. */
  phases(record: JobRecord, now: number): readonly Phase[] {
    const starts = this.#starts.length > 0 ? this.#starts : startsOf(record);
    return starts.map((start, index) => {
      const next = starts[index + 1]?.at;
      if (next === undefined && isOver(record)) return { ...start, seconds: null };
      if (next === undefined) return { ...start, seconds: secondsSince(start.at, record, now) };
      return { ...start, seconds: Math.max(0, Date.parse(next) - Date.parse(start.at)) / 1000 };
    });
  }
}

/** `queued 12 min: Resources`. */
export function describePhase({ state, reason, seconds, at }: Phase): string {
  const time = seconds === null ? '' : ` ${formatDuration(seconds)}`;
  const why = describeWaiting(reason, Date.parse(at)) ?? reason;
  return `${stateWord(state)}${time}${why === null ? '' : `: ${why}`}`;
}

function startsOf({ createdAt, startedAt, finishedAt, state }: JobRecord): readonly Start[] {
  const starts = [
    { state: 'queued', at: createdAt },
    { state: 'running', at: startedAt },
    { state, at: finishedAt },
  ];
  return starts.flatMap(({ state: each, at }) => {
    const time = timeOf(at ?? undefined);
    return time === undefined ? [] : [{ state: each, reason: null, at: time }];
  });
}

function timeOf(text: string | undefined): string | undefined {
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}
