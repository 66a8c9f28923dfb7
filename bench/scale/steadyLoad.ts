import { SITE } from './assumptions.ts';
import type { Calibration } from './calibration.ts';
import type { Design } from './design.ts';

// As src/service/jobs/jobWatch.ts, src/service/streams/eventStreams.ts and the configuration have it.
const MIN_ROUND_MS = 40;
const MAX_ROUNDS_PER_MS = 2;
const MAX_POLL_MS = 200;
const MAX_WRITES_PER_MS = 20;
const MAX_SPACING_MS = 1_000;
export const POLLS_PER_SECOND = 0.5;

/** What one of the service's processes has to do with. */
export interface Attended {
  readonly running: number;
  readonly waiting: number;
  /** In the answers of the cluster: those of all processes, and those that have ended lately. */
  readonly listed: number;
  readonly readers: number;
  readonly windows: number;
}

export interface SteadyLoad {
  /** Of the event loop, without waiting for transactions. */
  readonly loopShare: number;
  /** Of other threads, in a second. */
  readonly othersMs: number;
  /** Pieces of output that become changes of the store, in a second. */
  readonly outputsPerSecond: number;
  /** Between two checks of a job that a client reads. */
  readonly lookMs: number;
  /** Between two writes to one reader, at least. */
  readonly spacingMs: number;
}

/** The continuous work, of which there is too much to simulate each piece. */
export function steadyLoad(attended: Attended, { requests, jobs }: Calibration, design: Design): SteadyLoad {
  const { running, waiting, listed, readers, windows } = attended;
  const read = design.unreadLookMs === undefined ? running : Math.min(running, readers);
  const lookMs = Math.max(MAX_POLL_MS, MIN_ROUND_MS, read / MAX_ROUNDS_PER_MS);
  const unreadLookMs = Math.max(lookMs, design.unreadLookMs ?? 0);
  const looks = (read / lookMs + (running - read) / unreadLookMs) * 1000;
  const outputs = outputsPerSecond(read, lookMs) + outputsPerSecond(running - read, unreadLookMs);
  const spacingMs = Math.min(MAX_SPACING_MS, readers / MAX_WRITES_PER_MS);
  const written = readers * outputsPerSecond(1, Math.max(lookMs, spacingMs));
  const perSecond = (kind: 'loopMs' | 'othersMs'): number =>
    looks * jobs.look[kind] +
    outputs * jobs.output[kind] +
    written * jobs.delivery[kind] +
    waiting * jobs.waitPerSecond[kind] +
    listed * POLLS_PER_SECOND * jobs.pollPerJob[kind] +
    (windows / 60) *
      (SITE.requestsPerWindowMinute * requests.get[kind] + SITE.listsPerWindowMinute * requests.list[kind]);
  return {
    loopShare: perSecond('loopMs') / 1000,
    othersMs: perSecond('othersMs'),
    outputsPerSecond: outputs,
    lookMs,
    spacingMs,
  };
}

/** What jobs have written between two looks is taken over together. */
function outputsPerSecond(jobs: number, lookMs: number): number {
  return (jobs * (1 - Math.exp(-lookMs / SITE.outputEveryMs)) * 1000) / lookMs;
}
