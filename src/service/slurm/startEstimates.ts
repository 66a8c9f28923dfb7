import { formatDuration } from '../../core/text/format.ts';
import { type ClusterJob, phaseOf } from './queueState.ts';

const MAX_ERRORS = 20;
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
// For Slurm, a running job without a time limit takes a year, so starts after such a job are unknown.
const MOST_AHEAD_MS = 180 * DAY * 1_000;
// Even a busy scheduler renews its expectations within minutes, so an older one is obsolete.
const MOST_BEHIND_MS = 10 * MINUTE * 1_000;

/** When the cluster expects to start jobs that wait, and how wrong it was about those that have started. */
export class StartEstimates {
  /** The start, in milliseconds, that the cluster expected when it first said so, by the job's key. */
  readonly #first = new Map<string, number>();
  /** Seconds between the expected and the true start of the jobs that started last. */
  readonly #errors: number[] = [];

  /** Learns from an answer of the cluster. @param now milliseconds. */
  observe(jobs: ReadonlyMap<string, ClusterJob>, now: number): void {
    for (const key of this.#first.keys()) if (!jobs.has(key)) this.#first.delete(key);
    for (const [key, job] of jobs) {
      const first = this.#first.get(key);
      if (phaseOf(job) === 'waiting') {
        const expected = expectedStart(job, now);
        if (first === undefined && expected !== undefined) this.#first.set(key, expected);
        continue;
      }
      this.#first.delete(key);
      if (first === undefined || phaseOf(job) !== 'running') continue;
      const { startsAt: started = now } = job;
      this.#errors.push(Math.abs((isNear(started, now) ? started : now) - first) / 1000);
      if (this.#errors.length > MAX_ERRORS) this.#errors.shift();
    }
  }

  /** A sentence about a job that waits; empty if the cluster expects nothing. Rounded, so that it seldom changes. @param now milliseconds. */
  describe(job: ClusterJob, now: number): string {
    const start = job.state === 'PENDING' ? expectedStart(job, now) : undefined;
    if (start === undefined) return '';
    const expected = `The cluster expects to start it in about ${roughly((start - now) / 1000)}`;
    const error = this.#errors.toSorted((a, b) => a - b)[this.#errors.length >> 1];
    return error === undefined || error < MINUTE
      ? `${expected}.`
      : `${expected}; lately such estimates were off by about ${roughly(error)}.`;
  }
}

/** When the cluster expects to start a job, unless that is absurd. */
function expectedStart({ startsAt }: ClusterJob, now: number): number | undefined {
  const isSensible = startsAt !== undefined && isNear(startsAt, now) && startsAt >= now - MOST_BEHIND_MS;
  return isSensible ? startsAt : undefined;
}

function isNear(time: number, now: number): boolean {
  return Math.abs(time - now) <= MOST_AHEAD_MS;
}

/** Rounded more coarsely the longer it is, to a minute at least. */
function roughly(seconds: number): string {
  const unit = seconds < 10 * MINUTE ? MINUTE : seconds < HOUR ? 10 * MINUTE : seconds < DAY ? HOUR : DAY;
  return formatDuration(Math.max(1, Math.round(seconds / unit)) * unit);
}
