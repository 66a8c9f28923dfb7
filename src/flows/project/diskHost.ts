import { readFileSync, statSync } from 'node:fs';
import type { FlowHost } from './flowProject.ts';

/** The files of the disk, for a FlowProject in a command, a worker or a test. It reads synchronously. */
export const diskHost: FlowHost = {
  version(file) {
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.isFile() === true ? `${found.mtimeMs} ${found.size}` : undefined;
  },
  read(file) {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return undefined; // gone since it was looked for, or not readable: the flow is shown without it
    }
  },
};
