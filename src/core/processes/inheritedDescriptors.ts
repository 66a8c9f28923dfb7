import { closeSync, readdirSync } from 'node:fs';
import { readText } from './procfs.ts';

// O_CLOEXEC in fcntl.h of Linux; fdinfo has it in octal digits (proc(5)).
const CLOSE_ON_EXEC = 0o2_000_000;

/**
 * Closes the open files that this process was started with, except its standard streams: the one who started it may have left some
 * open, and its own children would have them too. Node.js marks all that it opens itself to be closed in children. Linux only.
 */
export function closeInheritedDescriptors(): void {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc/self/fd')) {
    const [, flags = ''] = /^flags:\s+([0-7]+)$/m.exec(readText(`/proc/self/fdinfo/${name}`)) ?? [];
    if (Number(name) > 2 && flags !== '' && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) closeSync(Number(name));
  }
}
