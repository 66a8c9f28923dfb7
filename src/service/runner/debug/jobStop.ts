// Stops the processes of a frozen job: signal(7), proc(5).
import { readText } from '../../../core/processes/procfs.ts';
import { readProcesses, readTotals } from '../usage/jobProcesses.ts';

const MAX_PROCESSES = 10_000;

/** Which processes of a job are there, and which of them continue while it is frozen. */
export interface StoppableJob {
  /** The job's first process, and others whose descendants count as the job's. */
  readonly roots: () => readonly number[];
  /** Processes that continue with all that they started: what serves the job's clients. */
  readonly isServing: (pid: number) => boolean;
  /** How many processes at its beginning confine the job. */
  readonly outer: number;
}

/** The ID on this machine of a process of the job; undefined if the job has none with this ID. Only Linux knows. */
export function findProcess({ roots }: StoppableJob, idInJob: number): number | undefined {
  if (process.platform !== 'linux') return idInJob;
  return readProcesses(roots(), MAX_PROCESSES).ids.find((pid) => {
    const [, ids = ''] = /^NSpid:\s+([\d\s]+)$/m.exec(readText(`/proc/${pid}/status`)) ?? [];
    return ids.trim().split(/\s+/).at(-1) === String(idInJob);
  });
}

/** Keeps all processes of a job from running but one, also those that start meanwhile. */
export class JobStop {
  readonly #job: StoppableJob;
  readonly #except: number;
  readonly #stopped = new Set<number>();

  /** @param except the process that waits for a debugger. */
  constructor(job: StoppableJob, except: number) {
    this.#job = job;
    this.#except = except;
  }

  /** Stops what runs. @returns the seconds of processors that the job has used since its start, as far as its processes know. */
  apply(): number {
    const { roots, isServing, outer } = this.#job;
    const all = readProcesses(roots(), MAX_PROCESSES).ids;
    const serving = readProcesses(all.slice(outer).filter(isServing), MAX_PROCESSES).ids;
    const kept = new Set([...all.slice(0, outer), ...serving, this.#except]);
    for (const pid of all) {
      if (!kept.has(pid) && !this.#stopped.has(pid) && !isStopped(pid) && send(pid, 'SIGSTOP')) this.#stopped.add(pid);
    }
    return readTotals(all).cpuSeconds;
  }

  [Symbol.dispose](): void {
    // Its descendants may have ended, and their IDs be those of other processes of this user.
    const own = new Set(readProcesses(this.#job.roots(), MAX_PROCESSES).ids);
    for (const pid of this.#stopped) if (own.has(pid)) send(pid, 'SIGCONT');
  }
}

function isStopped(pid: number): boolean {
  const text = readText(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).startsWith('T');
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it has ended
  }
}
