import { readFileSync, statSync } from 'node:fs';
import type { FileHost } from './parsedFiles.ts';

/** Files on disk, for a FlowProject in a command, a worker or a test. Reads synchronously. */
export const diskHost: FileHost = {
  version(file) {
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.isFile() === true ? `${found.mtimeMs} ${found.size}` : undefined;
  },
  read(file) {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return undefined; // deleted since `version`, or not readable: the flow is shown without it
    }
  },
};
