// What of this user's others may neither write nor read: what is found is checked, and what is made is closed.
import { chmodSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError, messageOf, systemCode } from '../errors.ts';
import { makeFolder } from './makeFolder.ts';
import { shellWord } from '../text/shellWord.ts';

const OTHERS = 0o077;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
// Folders of the home whose own entries decide where keys and folders go.
const DECIDING_FOLDERS = ['service'];

/**
 * Makes sure that no other user can write the folder of this user's data, anything that decides in it, or a folder above it, as
 * OpenSSH does with its own: whoever can write the service's address has the next key and the next folder sent there. A folder
 * above may belong to another user; what is not there is fine. On Windows the user's profile is protected by the system.
 *
 * @throws AppError `refused` with the command that mends it.
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
 * Makes sure that this user, or root, owns a file or folder and that no other user can write it.
 *
 * @param options `orOwnerOf`: to root, whoever owns this folder is as good: root administers what belongs to others.
 * @throws AppError `refused` with the command that mends it.
 */
export function requireOwn(path: string, { orOwnerOf }: { readonly orOwnerOf?: string } = {}): void {
  const user = process.getuid?.();
  const stats = statOf(path);
  if (user === undefined || stats === undefined) return;
  const owners = [user, 0, ...(user === 0 && orOwnerOf !== undefined ? [statOf(orOwnerOf)?.uid] : [])];
  // A link counts as what it leads to, and by whose it is: its own mode means nothing.
  const target = stats.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : stats;
  const foreign = [stats, target].find((each) => each !== undefined && !owners.includes(each.uid));
  if (foreign !== undefined) {
    throw refusal(path, `belongs to another user (number ${foreign.uid})`, `chown ${user} ${shellWord(path)}`);
  }
  if (target !== undefined && canOthersWrite(target)) throw writable(path, target);
}

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

/**
 * Makes sure that a file which decides what is run, and all folders above it, can be written by this user or root alone.
 *
 * @throws AppError `refused` with the command that mends it.
 */
export function requireOwnFile(path: string): void {
  for (const folder of foldersAbove(resolve(path))) requireUnwritten(folder);
  requireOwn(path);
  requireOwn(realPath(path));
}

/** A folder of the system may be written by all, where each may remove only what is their own, as in /tmp. */
function requireUnwritten(folder: string): void {
  const stats = statOf(folder);
  if (process.getuid === undefined || stats === undefined || stats.isSymbolicLink()) return;
  if ((stats.mode & STICKY) === 0 && canOthersWrite(stats)) throw writable(folder, stats);
}

/** A group of one's own, as many systems give each user, has the number of its user and no other member. */
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
    return path; // it is made later
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // there is none, or whoever wants to read it says why it cannot be read
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
  const message = `${path} ${what}. Whoever can write it decides what is run and where your keys and files go, so it was not used. Check what it contains, then run:  ${command}`;
  return new AppError('refused', message);
}

function tighten(path: string, mode: number): void {
  const user = process.geteuid?.();
  const stats = statSync(path, { throwIfNoEntry: false });
  if (user === undefined || stats === undefined) return;
  if (stats.uid !== user) {
    const message = `${path} belongs to user ${stats.uid}, who could read and change what user ${user} keeps there. Give it to this user:  sudo chown -R ${user} ${shellWord(path)}`;
    throw new AppError('permission', message);
  }
  if ((stats.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, mode);
  } catch (cause) {
    const message = `Other users can read ${path}, and that cannot be changed (${messageOf(cause)}). Change it:  chmod ${mode.toString(8)} ${shellWord(path)}`;
    throw new AppError('permission', message, { cause });
  }
}
