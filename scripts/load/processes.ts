import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { JOB_ID_VARIABLE } from '../../src/service/jobFiles/jobProcessTag.ts';

const CLAIM_FILE = 'claim.json';

interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** The processes of jobs of one service: those that are marked as such, run in its folder, or name it. Linux only. */
export function processesOfJobs(data: string, isOurs: (jobId: string) => boolean): readonly FoundProcess[] {
  const jobs = join(data, 'jobs');
  const found: FoundProcess[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    const mark = read(`/proc/${pid}/environ`)
      .split('\0')
      .find((variable) => variable.startsWith(`${JOB_ID_VARIABLE}=`));
    const isMarked = mark !== undefined && isOurs(mark.slice(JOB_ID_VARIABLE.length + 1));
    if (isMarked || command.includes(jobs) || folderOf(pid).startsWith(jobs)) found.push({ pid, command });
  }
  return found;
}

/** The runners that have taken a job, by job. */
export function runnersOf(data: string): ReadonlyMap<string, number> {
  const runners = new Map<string, number>();
  const jobs = join(data, 'jobs');
  for (const id of readdirSync(jobs)) {
    const claim = read(join(jobs, id, CLAIM_FILE));
    const { pid = 0 } = claim === '' ? {} : (JSON.parse(claim) as { pid?: number });
    // The service itself takes a job that is cancelled before it runs.
    if (pid > 0 && read(`/proc/${pid}/cmdline`).includes(join(jobs, id))) runners.set(id, pid);
  }
  return runners;
}

/** The process that started another: of a runner on a cluster, the node's step. */
export function parentOf(pid: number): number | undefined {
  const parent = /^PPid:\t(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return parent === undefined ? undefined : Number(parent);
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
