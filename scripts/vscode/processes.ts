import { readFile, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const GRACE_MS = 3_000;

/**
 * Ends every process that was started for `folder`: with the folder in its environment or command, or working in it.
 * Only Linux shows that of a process; elsewhere services end by themselves when they are idle.
 */
export async function endProcessesOf(folder: string): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const pids = await findProcessesOf(folder);
    if (pids.length === 0) return;
    for (const pid of pids) send(pid, signal);
    const deadline = Date.now() + GRACE_MS;
    while (Date.now() < deadline && (await findProcessesOf(folder)).length > 0) await sleep(50);
  }
}

async function findProcessesOf(folder: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(pids.map(async (pid) => ((await belongsTo(pid, folder)) ? [pid] : [])));
  return found.flat();
}

async function belongsTo(pid: number, folder: string): Promise<boolean> {
  const process = join('/proc', String(pid));
  const none = () => ''; // it ended meanwhile, or belongs to another user
  const [environment, command, cwd] = await Promise.all([
    readFile(join(process, 'environ'), 'utf8').catch(none),
    readFile(join(process, 'cmdline'), 'utf8').catch(none),
    readlink(join(process, 'cwd')).catch(none),
  ]);
  return environment.includes(folder) || command.includes(folder) || cwd.startsWith(folder);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
