// Files of this user that others must neither write nor read: existing ones are checked, new ones are created private.
import { chmodSync, closeSync, lstatSync, openSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError, messageOf, systemCode } from '../errors.ts';
import { makeFolder } from './makeFolder.ts';
import { shellWord } from '../text/shellWord.ts';

const OTHERS = 0o077;
const OTHERS_PASS = 0o011;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
// Folders in the home whose entries decide where keys and folders are sent.
const DECIDING_FOLDERS = ['service'];

/**
 * Checks that no other user can write to the folder of this user's data, to its important files, or to a parent folder, as OpenSSH does:
 * a user who can change the service's address receives the next key and folder. Parent folders may belong to other users, and files may be
 * missing. On Windows the system protects the user's profile.
 *
 * @throws AppError `refused` with the command that fixes it.
 */
export function requireOwnHome(home: string): void {
  const path = resolve(home);
  for (const folder of foldersAbove(path)) requireUnwritten(folder);
  requireOwn(path);
  for (const name of namesIn(path)) requireOwn(join(path, name));
  for (const folder of DECIDING_FOLDERS) {
    for (const name of namesIn(join(path, folder))) requireOwn(join(path, folder, name));
  }
}

/**
 * Checks that this user, or root, owns a file or folder and that no other user can write to it.
 *
 * @throws AppError `refused` with the command that fixes it.
 */
export function requireOwn(path: string): void {
  const user = process.getuid?.();
  const stats = statOf(path);
  if (user === undefined || stats === undefined) return;
  // For a link, its owner and its target are checked; its own mode means nothing.
  const target = stats.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : stats;
  const foreign = [stats, target].find((each) => each !== undefined && each.uid !== user && each.uid !== 0);
  if (foreign !== undefined) {
    throw refusal(path, `belongs to another user (number ${foreign.uid})`, `chown ${user} ${shellWord(path)}`);
  }
  if (target !== undefined && canOthersWrite(target)) throw writable(path, target);
}

/**
 * Creates a folder if it is missing, and removes the permissions of other users. On Windows, where folders in the user's profile are
 * private, it is only created.
 *
 * @throws AppError `permission`, with the command that fixes it, for a folder of another user or one whose permissions cannot be
 * changed; the system's error if it cannot be created.
 */
export function ensurePrivateFolder(path: string): void {
  makeFolder(path);
  tighten(path, 0o700);
}

/** The same for a folder that others may be allowed to pass through, to a path that they know: that permission stays. */
export function ensureUnlistedFolder(path: string): void {
  makeFolder(path);
  tighten(path, 0o700, OTHERS_PASS);
}

/** Removes the permissions of other users for a file, if it exists. @throws AppError `permission` as for folders. */
export function ensurePrivateFile(path: string): void {
  tighten(path, 0o600);
}

/**
 * Creates an empty file that only this user can read, unless the file exists. An existing file is not opened, because closing it would
 * release all locks that this process has on it, such as those of SQLite: https://www.sqlite.org/howtocorrupt.html
 *
 * @throws the system's error if it cannot be created.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Checks that only this user or root can write to a file that decides what is run, and to its parent folders.
 *
 * @throws AppError `refused` with the command that fixes it.
 */
export function requireOwnFile(path: string): void {
  for (const folder of foldersAbove(resolve(path))) requireUnwritten(folder);
  requireOwn(path);
  requireOwn(realPath(path));
}

/** Everyone may write to system folders such as /tmp, where users can only remove their own files. */
function requireUnwritten(folder: string): void {
  const stats = statOf(folder);
  if (process.getuid === undefined || stats === undefined || stats.isSymbolicLink()) return;
  if ((stats.mode & STICKY) === 0 && canOthersWrite(stats)) throw writable(folder, stats);
}

/** A user's private group, which many systems create, has the number of the user and no other member. */
function canOthersWrite({ mode, uid, gid }: Stats): boolean {
  return (mode & OTHERS_WRITE) !== 0 || ((mode & GROUP_WRITES) !== 0 && gid !== 0 && gid !== uid);
}

function foldersAbove(path: string): Set<string> {
  const folders = new Set<string>();
  for (const start of [path, realPath(path)]) {
    for (let folder = dirname(start); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  return folders;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // created later
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // missing, or not readable, which the code that reads it reports
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

function writable(path: string, { mode }: Stats): AppError {
  const bits = (mode & 0o7777).toString(8).padStart(4, '0');
  return refusal(path, `can be written by other users (mode ${bits})`, `chmod go-w ${shellWord(path)}`);
}

function refusal(path: string, what: string, command: string): AppError {
  const message = `${path} ${what}. A user who can write it decides what is run and where your keys and files go, so it was not used. Check what it contains, then run:  ${command}`;
  return new AppError('refused', message);
}

function tighten(path: string, mode: number, allowed = 0): void {
  const user = process.geteuid?.();
  const stats = statSync(path, { throwIfNoEntry: false });
  if (user === undefined || stats === undefined) return;
  const link = lstatSync(path);
  if (link.isSymbolicLink() && link.uid !== user && link.uid !== 0) {
    const message = `${path} is a link of user ${link.uid}, who could let it lead elsewhere at any time, so it was not used. Remove it:  rm ${shellWord(path)}`;
    throw new AppError('permission', message);
  }
  if (stats.uid !== user) {
    const message = `${path} belongs to user ${stats.uid}, who could read and change the data of user ${user} in it. Change its owner:  sudo chown -R ${user} ${shellWord(path)}`;
    throw new AppError('permission', message);
  }
  if ((stats.mode & OTHERS & ~allowed) === 0) return;
  try {
    chmodSync(path, mode);
  } catch (cause) {
    const message = `Other users can read ${path}, and its permissions cannot be changed (${messageOf(cause)}). Run:  chmod ${mode.toString(8)} ${shellWord(path)}`;
    throw new AppError('permission', message, { cause });
  }
}
