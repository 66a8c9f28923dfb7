import { accessSync, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const FIRST_BYTES = 256;
// A job may put a pipe or a device in the place of a program: neither is waited for.
const OPEN_PROGRAM = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Fails as the system's `execve` does, for a program that another program is to start and whose failure would look like its own.
 *
 * @param isVisible whether the job sees a path as the service does: nothing else is opened, so that an account learns nothing
 * about files outside of its sandbox from links or from first lines that name them.
 * @throws an error with the system's code: `ENOENT`, `EACCES` or `ENOEXEC`.
 */
export function assertStarts(path: string, isVisible: (path: string) => boolean): void {
  assertExecutable(path, isVisible);
  const first = readFirstBytes(path);
  if (first.startsWith('\x7fELF')) return;
  const [, interpreter] = /^#! *(\/\S+)/.exec(first) ?? [];
  if (interpreter === undefined) throw failure('ENOEXEC', 'no interpreter');
  assertExecutable(interpreter, isVisible);
}

function assertExecutable(path: string, isVisible: (path: string) => boolean): void {
  if (!isVisible(path)) throw failure('ENOENT', 'not there');
  accessSync(path, constants.X_OK);
}

function readFirstBytes(path: string): string {
  const file = openSync(path, OPEN_PROGRAM);
  try {
    if (!fstatSync(file).isFile()) throw failure('EACCES', 'not a file');
    const bytes = Buffer.alloc(FIRST_BYTES);
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, FIRST_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
