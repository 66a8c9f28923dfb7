import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hardLimit, newLockLimit, PRLIMIT } from '../../core/processes/lockLimit.ts';
import { controls, spawnInCgroup } from '../cgroups/jobCgroup.ts';
import type { Confinement } from '../jobFiles/confinement.ts';
import { jobProcessTag } from '../jobFiles/jobProcessTag.ts';
import { countThreads } from './usage/jobProcesses.ts';

// Part of util-linux and coreutils, which install them here on every distribution.
const TASKSET = '/usr/bin/taskset';
const NICE = '/usr/bin/nice';
const IONICE = '/usr/bin/ionice';
const OUT_OF_MEMORY_SCORE = '/proc/self/oom_score_adj';
// Of 1000 at most, which is added to the thousandths of the memory that a process has (proc(5)).
const JOB_SCORE = '500';

const SPARE_PROCESSES = 64;

type Command = readonly [string, ...string[]];

/**
 * A command that starts another one with what it and all its processes inherit: the limit that marks them, the largest file, the cores,
 * and a lower priority for processor and disk. The runner has none of it, so that no job can starve what ends the job.
 */
export function restrained(command: Command, jobId: string, confinement: Confinement | undefined): Command {
  return withPriority(withLimits(command, jobId, confinement), confinement?.nice ?? 0);
}

function withLimits(command: Command, jobId: string, confinement: Confinement | undefined): Command {
  const cpus = controls(confinement?.cgroup, 'cpuset') ? null : (confinement?.cpus ?? null);
  const onCores: Command =
    cpus === null || !existsSync(TASKSET) ? command : [TASKSET, '--cpu-list', cpus.join(','), ...command];
  const maxFileBytes = confinement?.limits.maxFileBytes ?? null;
  const mark = newLockLimit(jobProcessTag(jobId));
  const limits = [
    ...(mark === undefined ? [] : [`--locks=${mark}:${mark}`]),
    ...(maxFileBytes === null ? [] : [`--fsize=${maxFileBytes}`]),
    ...maxProcessesOf(confinement),
  ];
  return limits.length === 0 || !existsSync(PRLIMIT) ? onCores : [PRLIMIT, ...limits, ...onCores];
}

/**
 * Without a sandbox and a control group, the kernel counts all processes and threads of the user, so a job gets room for its own beside
 * them. It gets a few more, so that the watch sees a job that tries. Root has no limit.
 */
function maxProcessesOf(confinement: Confinement | undefined): readonly string[] {
  const uid = process.getuid?.() ?? 0;
  if (confinement === undefined || confinement.sandbox !== null || controls(confinement.cgroup, 'pids') || uid === 0) {
    return [];
  }
  const wanted = countThreads(uid) + confinement.limits.maxProcesses + SPARE_PROCESSES;
  return [`--nproc=${Math.min(wanted, hardLimit('self', 'Max processes') ?? wanted)}`];
}

function withPriority(command: Command, nice: number): Command {
  if (nice === 0 || !existsSync(NICE)) return command;
  // The lowest best-effort priority, because idle priority would not read at all on a busy disk.
  const onDisk = existsSync(IONICE) ? [IONICE, '--ignore', '--class', '2', '--classdata', '7'] : [];
  return [NICE, '-n', String(nice), ...onDisk, ...command];
}

/**
 * Calls a function that starts a process, which is in the job's control group from its first moment, and which the kernel ends before
 * the service and its runners if the machine runs out of memory.
 */
export function startRestrained<T>(confinement: Confinement | undefined, start: () => T): T {
  const own = changeScore(JOB_SCORE);
  try {
    return spawnInCgroup(confinement?.cgroup, start);
  } finally {
    if (own !== undefined) changeScore(own);
  }
}

/** @returns the score until then; undefined on a system without one, and if the score is higher already. */
function changeScore(score: string): string | undefined {
  try {
    const before = readFileSync(OUT_OF_MEMORY_SCORE, 'utf8').trim();
    if (Number(before) > Number(JOB_SCORE)) return undefined;
    writeFileSync(OUT_OF_MEMORY_SCORE, score);
    return before;
  } catch {
    return undefined;
  }
}
