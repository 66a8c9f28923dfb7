import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { systemCode } from '../../../src/core/errors.ts';
import { pick, type Random } from '../../../test/random.ts';

export interface FoundProcess {
  readonly pid: number;
  /** The program, as the kernel names it. */
  readonly name: string;
  readonly command: string;
}

/** The processes, except this one, that name a folder in their command line or work in it. Linux only. */
export function processesIn(folder: string): readonly FoundProcess[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
      if (command === '') return []; // it has ended, and its parent does not know yet
      return command.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
        ? [{ pid, name, command }]
        : [];
    } catch {
      return []; // it has just ended
    }
  });
}

/** Kills one of some processes. @returns whether there was one. */
export function killOne(processes: readonly { readonly pid: number }[], random: Random): boolean {
  const { pid } = pick(processes, random) ?? {};
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
    return false;
  }
}
