import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readText } from './procfs.ts';

// Part of util-linux, which installs it here on every distribution.
export const PRLIMIT = '/usr/bin/prlimit';
// Exact in a double, and above any limit that somebody sets.
const DIGITS = 12;
// Below it, two names would too easily have the same limit.
const MIN_LIMITS = 2 ** 30;

/**
 * A limit for file locks that marks processes which belong together. Linux has not enforced it since 2.4, but every child inherits it
 * (getrlimit(2)): unlike a group, a session or a variable, no program leaves its hard limit behind in passing. Only root can raise it. A
 * program that wants to hide can lower it; only a sandbox or a control group finds it then.
 *
 * @param name of what they belong to.
 * @returns undefined where processes cannot be given one.
 */
export function newLockLimit(name: string): number | undefined {
  if (process.platform !== 'linux' || !existsSync(PRLIMIT)) return undefined;
  const limit = 1 + Number.parseInt(hash('sha256', name).slice(0, DIGITS), 16);
  const ownLimit = hardLimit('self', 'Max file locks');
  if (ownLimit === undefined) return limit;
  // This process has one itself, which it cannot raise, and which all that it starts have.
  return ownLimit < MIN_LIMITS ? undefined : 1 + (limit % (ownLimit - 1));
}

/** The limit for file locks that marks a process; undefined if it has none, or is gone. */
export function lockLimitOf(pid: number): number | undefined {
  return hardLimit(pid, 'Max file locks');
}

/** A hard limit of a process, by its name in proc(5); undefined if it has none, or is gone. */
export function hardLimit(pid: number | 'self', name: 'Max file locks' | 'Max processes'): number | undefined {
  const line = readText(`/proc/${pid}/limits`)
    .split('\n')
    .find((each) => each.startsWith(name));
  const [, limit] = /^\s+\S+\s+(\d+)/.exec(line?.slice(name.length) ?? '') ?? [];
  return limit === undefined ? undefined : Number(limit);
}
