// A reporter of `node --test` that prints the path of each test file with a failure, a line each. A failed test names the file that
// calls `test`, which may be one that several test files import, so that only the outcome of the whole file is asked.
import { resolve } from 'node:path';

/** @param {AsyncIterable<{ type: string, data: { name: string, file?: string, details?: { error?: Error } } }>} events */
export default async function* failedFiles(events) {
  for await (const { type, data } of events) {
    const isFile = type === 'test:complete' && resolve(data.name) === data.file;
    if (isFile && data.details?.error !== undefined) yield `${data.file}\n`;
  }
}
