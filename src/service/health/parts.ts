import { statfs } from 'node:fs/promises';
import { formatBytes, formatCount, formatDuration } from '../../core/text/format.ts';
import type { ClusterContact } from '../executor/executor.ts';
import type { FailedCall } from '../executor/executorCalls.ts';
import type { Drain } from '../store/jobs/drainRecord.ts';
import type { ClockStep } from './clockWatch.ts';
import { systemCode } from '../../core/errors.ts';

// Longer than a check that times out.
const SILENCE_MS = 60_000;
// How long a failed call, or a clock that was set, affects the status.
const RECENT_MS = 10 * 60_000;

// A warning at this multiple of the minimum leaves time to react.
const WARN_FACTOR = 2;

/** One part of a service's health. */
export interface HealthPart {
  /**
   * `draining`: no job is accepted, as an operator wants; `degraded`: needs attention, but jobs are accepted and kept; `unavailable`: no
   * job is accepted.
   */
  readonly status: 'ok' | 'draining' | 'degraded' | 'unavailable';
  /** A sentence for people, without paths and accounts. */
  readonly message: string;
}

/** The executor: whether it can start jobs, and whether its last calls succeeded. */
export function executorPart(isRefusing: boolean, failures: readonly FailedCall[]): HealthPart {
  if (isRefusing) {
    const message =
      'No job can be started, so none is accepted. The log of the start and farwharf serve --check say why.';
    return { status: 'unavailable', message };
  }
  // A failed check is reported by the part about the cluster.
  const recent = failures.filter(({ call, at }) => call !== 'look' && performance.now() - at < RECENT_MS);
  const last = recent.toSorted((a, b) => a.at - b.at).at(-1);
  if (last === undefined) return { status: 'ok', message: 'The last calls of the executor succeeded.' };
  const message = `The last ${last.call} of a job failed ${ago(last.at)} (${last.code}). The log has the reason.`;
  return { status: 'degraded', message };
}

export function clusterPart({ answeredAt, failingSince }: ClusterContact): HealthPart {
  const waits = 'Jobs are accepted and wait. The log has the reason.';
  if (failingSince !== undefined) {
    return {
      status: 'degraded',
      message: `The cluster has not answered since ${failingSince.toISOString()}. ${waits}`,
    };
  }
  if (answeredAt === undefined) return { status: 'degraded', message: `The cluster has not answered yet. ${waits}` };
  const message = `The cluster answered ${ago(answeredAt)}.`;
  if (performance.now() - answeredAt < SILENCE_MS) return { status: 'ok', message };
  return { status: 'degraded', message: `${message} It is asked more often than that. ${waits}` };
}

/** Never a problem by itself: a busy cluster has a long queue. */
export function queuePart(
  { count, oldestAt }: { count: number; oldestAt: number | undefined },
  now: number,
): HealthPart {
  if (oldestAt === undefined) return { status: 'ok', message: 'No job waits.' };
  const age = formatDuration(Math.max(0, now - oldestAt) / 1000);
  return {
    status: 'ok',
    message: `${formatCount(count, 'job')} ${count === 1 ? 'waits' : 'wait'}, the oldest for ${age}.`,
  };
}

/** Whether the identity provider answered when it was last asked for its keys. */
export function signInPart({ isAvailable }: { readonly isAvailable: boolean }): HealthPart {
  if (isAvailable) return { status: 'ok', message: 'The identity provider answered when it was last asked.' };
  const message = 'The identity provider cannot be used, so people cannot sign in. Keys work. The log has the reason.';
  return { status: 'degraded', message };
}

/** The operator's reason is only for those who have a key. */
export function drainPart(drain: Drain | undefined): HealthPart {
  if (drain === undefined) return { status: 'ok', message: 'The service is not drained.' };
  const since = new Date(drain.since).toISOString();
  const message = `An operator has drained the service since ${since}: running jobs finish, and no job is accepted or started.`;
  return { status: 'draining', message };
}

export function slotsPart({ all, free }: { all: number; free: number }): HealthPart {
  return { status: 'ok', message: `${free} of ${formatCount(all, 'slot')} ${free === 1 ? 'is' : 'are'} free.` };
}

export function clockPart(step: ClockStep | undefined): HealthPart {
  if (step === undefined || performance.now() - step.at > RECENT_MS) {
    return { status: 'ok', message: 'The clock has not been set in the last ten minutes.' };
  }
  const direction = step.seconds < 0 ? 'back' : 'ahead';
  const message = `The clock was set ${direction} by ${formatDuration(Math.abs(step.seconds))} ${ago(step.at)}, or the machine was suspended. Expiry of keys and the times of jobs follow it. Nothing is deleted early.`;
  return { status: 'degraded', message };
}

function ago(at: number): string {
  return `${formatDuration((performance.now() - at) / 1000)} ago`;
}

/** Bytes that this user can still write to the folders' file system, the fuller one of two. @throws the system's error. */
export async function freeBytesOf(folders: readonly string[]): Promise<number> {
  const disks = await Promise.all([...new Set(folders)].map((folder) => statfs(folder)));
  return Math.min(...disks.map(({ bavail, bsize }) => bavail * bsize));
}

export async function checkDisk(folders: readonly string[], minFreeBytes: number): Promise<HealthPart> {
  try {
    const free = await freeBytesOf(folders);
    const message = `The disk of the data folder has ${formatBytes(free)} left; below ${formatBytes(minFreeBytes)} no job is taken.`;
    if (free < minFreeBytes || free === 0) return { status: 'unavailable', message };
    if (free >= WARN_FACTOR * minFreeBytes) return { status: 'ok', message };
    return { status: 'degraded', message: `${message} Free some, or shorten [retention].` };
  } catch (error) {
    return {
      status: 'unavailable',
      message: `The data folder or the files of jobs cannot be read: ${systemCode(error) ?? 'error'}. Their file system may not be mounted.`,
    };
  }
}
