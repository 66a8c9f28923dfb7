import { existsSync } from 'node:fs';
import { bootIdentity, steadyMs } from '../../core/processes/processTree.ts';
import type { RunnerEnding } from '../executor/executor.ts';
import { type JobFolder, writeMarker } from '../jobFiles/jobFolder.ts';
import { latestProgram, type StartedMarker } from '../jobFiles/markers.ts';

// The runner, which ends its job itself, gets this much more time than it needs. Another machine's waits for a signal of its cluster
// before it reports, and a shared file system shows the report late.
const SPARE_MS = 1_000;
const REMOTE_SPARE_MS = 10_000;

export type OverdueReason = Extract<RunnerEnding['state'], 'timed_out' | 'cancelled'>;

/** Notices that a job should have ended but has not, because its runner gets no processor time, is stuck, or was stopped. */
export class OverdueWatch {
  readonly #limitMs: number;
  readonly #graceMs: number;
  #program: (StartedMarker & { readonly seenAt: number }) | undefined;
  #cancelledAt: number | undefined;

  /** @param graceMs time between the signal to end and the kill. */
  constructor({ maxRuntime }: { readonly maxRuntime: number }, graceMs: number, isLocal: boolean) {
    this.#limitMs = 1000 * maxRuntime;
    this.#graceMs = graceMs + (isLocal ? SPARE_MS : REMOTE_SPARE_MS);
  }

  /** Why the job should have ended; undefined if it need not have. @param holdSeconds how long it may be frozen beside its time limit. */
  async check(
    folder: JobFolder,
    { isCancelled, holdSeconds }: { readonly isCancelled: boolean; readonly holdSeconds: number | null },
  ): Promise<OverdueReason | undefined> {
    const now = steadyMs();
    if (isCancelled) this.#cancelledAt ??= now;
    if (this.#cancelledAt !== undefined && now > this.#cancelledAt + this.#graceMs) return 'cancelled';
    if (existsSync(folder.overdue)) return 'timed_out';
    const program = await latestProgram(folder);
    if (program !== undefined && program.at !== this.#program?.at) this.#program = { ...program, seenAt: now };
    return now > this.#deadline() + 1000 * (holdSeconds ?? 0) + this.#graceMs ? 'timed_out' : undefined;
  }

  /** The runner's own, unless it is on another machine. A job that is not isolated could make it later, but not beyond its limit. */
  #deadline(): number {
    if (this.#program === undefined) return Number.POSITIVE_INFINITY;
    const { boot, deadline, seenAt, usedSeconds } = this.#program;
    const latest = seenAt + this.#limitMs - 1000 * usedSeconds;
    return boot === bootIdentity() ? Math.min(latest, deadline ?? latest) : latest;
  }
}

/** Records that the service ends a job at its time limit, for the next service: what ends it there looks like a cancellation. */
export function noteOverdue(folder: JobFolder): void {
  try {
    if (!existsSync(folder.overdue)) writeMarker(folder.overdue, {});
  } catch {
    // A full disk has no room for it, and must not keep the job from being ended.
  }
}

/** The end of a job that the service ended, and whose runner did not report it. */
export function overdueEnding(state: OverdueReason): RunnerEnding {
  const when = state === 'timed_out' ? 'at its time limit' : 'as requested';
  const reason = `The job's runner did not end the job ${when}, so the service did.`;
  return { state, reason, isCharged: true, isCause: true };
}
