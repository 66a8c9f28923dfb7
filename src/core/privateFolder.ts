import { chmodSync, statSync } from 'node:fs';
import { AppError, messageOf } from './errors.ts';
import { makeFolder } from './makeFolder.ts';

const OTHERS = 0o077;

/**
 * Makes sure that a folder is there and that only this user can enter it: it is created where it is missing, and rights of others
 * are taken away. On Windows, where a folder of the user's profile is closed to others, it is only created.
 *
 * @throws AppError `permission`, with the command that mends it, for a folder of another user or one whose rights cannot be
 * changed; the system's error where it cannot be created.
 */
export function ensurePrivateFolder(path: string): void {
  makeFolder(path);
  tighten(path, 0o700);
}

/** The same for a file, which is left alone where it is missing. @throws AppError `permission` as for folders. */
export function ensurePrivateFile(path: string): void {
  tighten(path, 0o600);
}

function tighten(path: string, mode: number): void {
  const user = process.geteuid?.();
  const stats = statSync(path, { throwIfNoEntry: false });
  if (user === undefined || stats === undefined) return;
  if (stats.uid !== user) {
    const message = `${path} belongs to user ${stats.uid}, who could read and change what user ${user} keeps there. Give it to this user:  sudo chown -R ${user} ${quote(path)}`;
    throw new AppError('permission', message);
  }
  if ((stats.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, mode);
  } catch (cause) {
    const message = `Other users can read ${path}, and that cannot be changed (${messageOf(cause)}). Change it:  chmod ${mode.toString(8)} ${quote(path)}`;
    throw new AppError('permission', message, { cause });
  }
}

function quote(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}
