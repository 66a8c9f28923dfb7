import { statSync } from 'node:fs';
import type { FileHost } from './parsedFiles.ts';
import { readNamedBytesSync } from '../../core/files/namedFile.ts';

// Source files are smaller. What is larger is not read as one, as a file that cannot be read.
const MAX_BYTES = 32e6;

/** Files on disk, for a FlowProject in a command, a worker or a test. Reads synchronously. */
export const diskHost: FileHost = {
  version(file) {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size <= MAX_BYTES ? `${stats.mtimeMs} ${stats.size}` : undefined;
  },
  read(file) {
    try {
      return readNamedBytesSync(file, { maxBytes: MAX_BYTES }).toString('utf8');
    } catch {
      return undefined; // deleted since `version`, or not readable: the flow is shown without it
    }
  },
};
