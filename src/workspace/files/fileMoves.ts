import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { systemCode } from '../../core/errors.ts';

// The error codes if a file system has no hard links, or the paths are on different file systems.
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL']);

const COMPARED_BYTES = 1 << 20;

/** Creates a second name for a file, atomically and without replacing anything. False if `to` exists. */
export function linkWithoutReplacing(from: string, to: string, part: () => string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
    return copyWithoutReplacing(from, to, part);
  }
}

/** Reserves the name with an empty file and then replaces it with a complete copy, so that there is never a partial one. */
function copyWithoutReplacing(from: string, to: string, part: () => string): boolean {
  try {
    closeSync(openSync(to, 'wx'));
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    copyOver(from, to, part);
    return true;
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

/** Replaces `to` atomically with a second name for a file, or with a copy. `part` returns a temporary path beside `to`. */
export function linkOver(from: string, to: string, part: () => string): void {
  try {
    linkSync(from, part());
    renameSync(part(), to);
  } catch (error) {
    if (!NO_LINKS.has(systemCode(error) ?? '')) throw error;
    copyOver(from, to, part);
  }
}

/** Replaces `to` atomically with a copy. `part` returns a temporary path beside it. */
function copyOver(from: string, to: string, part: () => string): void {
  try {
    copyFileSync(from, part(), constants.COPYFILE_EXCL);
    const { atime, mtime } = statSync(from);
    utimesSync(part(), atime, mtime);
    renameSync(part(), to);
  } catch (error) {
    rmSync(part(), { force: true });
    throw error;
  }
}

/** Replaces `to` atomically with the file itself, or with a copy if it is on another file system. */
export function moveOver(from: string, to: string, part: () => string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
    copyOver(from, to, part);
  }
}

/** Keeps the file at `from` under another name as well. */
export function keepCopy(from: string, to: string, part: () => string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(systemCode(error) ?? '')) throw error;
    copyOver(from, to, part);
  }
}

/** Device and inode; undefined if the path does not exist. */
export function inodeOf(path: string): string | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** Whether `copy` was created from `original` by `linkWithoutReplacing` or `copyOver`, completely or partially. */
export function isMadeOf(copy: string, original: string): boolean {
  const [made, source] = [copy, original].map((path) => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  if (made === undefined || source === undefined || !made.isFile()) return false;
  if (made.dev === source.dev && made.ino === source.ino) return true;
  if (made.dev === source.dev && hasLinks(original)) return false;
  return made.size === 0n || (made.size === source.size && haveSameBytes(copy, original));
}

function haveSameBytes(...paths: [string, string]): boolean {
  const files = paths.map((path) => ({ descriptor: openSync(path, 'r'), buffer: Buffer.alloc(COMPARED_BYTES) }));
  try {
    for (;;) {
      const [one = Buffer.alloc(0), other = Buffer.alloc(0)] = files.map(({ descriptor, buffer }) =>
        buffer.subarray(0, readSync(descriptor, buffer)),
      );
      if (!one.equals(other)) return false;
      if (one.length === 0) return true;
    }
  } finally {
    for (const { descriptor } of files) closeSync(descriptor);
  }
}

function hasLinks(path: string): boolean {
  const probe = `${path}.probe`;
  try {
    rmSync(probe, { force: true });
    linkSync(path, probe);
    rmSync(probe);
    return true;
  } catch {
    return false;
  }
}
