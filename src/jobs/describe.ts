import type { JobRecord } from './record.ts';

/** Icon families of a job row; each face has its own drawings. */
export type JobIcon = 'sending' | 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'timed-out' | 'unknown';

/** `running 4 min · a10g · 1.2 cr`; a failed job's reason; free of control characters. `now` is in milliseconds. */
export function describeJob(_record: JobRecord, _now: number): string {
  throw new Error('not built yet');
}

/** The one line at the end of a log: `succeeded in 42 s · 1.2 credits · results in /home/ada/model`. */
export function describeOutcome(_record: JobRecord, _results?: string): string {
  throw new Error('not built yet');
}

/** Which icon stands for the state; words that are not known count as running until the job is over. */
export function jobIcon(_record: JobRecord): JobIcon {
  throw new Error('not built yet');
}

/** Seconds of work so far or in all; null before it began. `now` is in milliseconds. */
export function elapsedSeconds(_record: JobRecord, _now: number): number | null {
  throw new Error('not built yet');
}
