import { accessSync, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { FIRST_LINE_BYTES } from '../../../workspace/scripts/shebang.ts';

// A job may replace a program with a pipe or a device, which must not block.
const OPEN_PROGRAM = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Fails like the system's `execve`, for a program that another program will start: otherwise its failure would look like that of the other
 * program.
 *
 * @param isVisible whether a path is the same file for the job as for the service. Nothing else is opened, so that an account
 * learns nothing about files outside its sandbox from links, or from first lines that name them.
 * @throws an error with the system's code: `ENOENT`, `EACCES` or `ENOEXEC`.
 */
export function assertStarts(path: string, isVisible: (path: string) => boolean): void {
  assertExecutable(path, isVisible);
  const first = readFirstBytes(path).toString('latin1');
  if (first.startsWith('\x7fELF')) return;
  const [, interpreter] = /^#! *(\/\S+)/.exec(first) ?? [];
  if (interpreter === undefined) throw failure('ENOEXEC', 'no interpreter');
  assertExecutable(interpreter, isVisible);
}

/**
 * The first bytes of a script; empty for what is not a file, and for what the job cannot see or read, so that its program is chosen by its
 * name, and fails as it would for the job.
 *
 * @param isVisible as in `assertStarts`.
 */
export function readProgramStart(path: string, isVisible: (path: string) => boolean): Buffer {
  try {
    return isVisible(path) ? readFirstBytes(path) : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}

function assertExecutable(path: string, isVisible: (path: string) => boolean): void {
  if (!isVisible(path)) throw failure('ENOENT', 'not there');
  accessSync(path, constants.X_OK);
}

function readFirstBytes(path: string): Buffer {
  const file = openSync(path, OPEN_PROGRAM);
  try {
    if (!fstatSync(file).isFile()) throw failure('EACCES', 'not a file');
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
