import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { writeAtomicallySync } from '../../core/files/atomicFile.ts';

// The shortest limit of all systems for a socket's address (unix(7): 107 bytes on Linux, 103 on macOS).
const MAX_ADDRESS_BYTES = 103;
const PIPE_NAME_BYTES = 16;

const adminFile = z.object({
  pid: z.int().positive(),
  version: z.string(),
  /** The name of the machine, because several may share the folder. */
  host: z.string(),
  /** Windows: the name of the pipe. Nobody can guess it and create the pipe first. */
  pipe: z.string().optional(),
});

/** Which service administers a data folder. */
export type AdminFile = z.infer<typeof adminFile>;

/** An address that stays usable until it is disposed. */
export interface AdminAddress extends Disposable {
  /** What `listen` and `request` take as a path. */
  readonly path: string;
}

/** The socket of a service, in its data folder: only those who may enter the folder reach it. */
export function adminSocketOf(data: string): string {
  return join(data, 'admin.sock');
}

/** A new name for the pipe of a service on Windows, which has no sockets in folders; undefined on other systems. */
export function newPipe(): string | undefined {
  return process.platform === 'win32'
    ? `\\\\.\\pipe\\farwharf-${randomBytes(PIPE_NAME_BYTES).toString('hex')}`
    : undefined;
}

/**
 * The address of a service's socket. On Linux, a path that is too long for an address is replaced by one through the folder's
 * descriptor.
 *
 * @throws AppError `bad-input` for a path that is too long on other systems; the system's error if the folder does not exist.
 */
export function openAdminAddress(data: string, pipe: string | undefined): AdminAddress {
  const path = pipe ?? adminSocketOf(data);
  if (pipe !== undefined || Buffer.byteLength(path) <= MAX_ADDRESS_BYTES) return { path, [Symbol.dispose]: () => {} };
  if (process.platform !== 'linux') {
    const message = `The path ${path} is too long for a socket (at most ${MAX_ADDRESS_BYTES} bytes). Choose a data folder with a shorter path.`;
    throw new AppError('bad-input', message);
  }
  const folder = openSync(data, 'r');
  return { path: `/proc/self/fd/${folder}/admin.sock`, [Symbol.dispose]: () => closeSync(folder) };
}

/** Writes the file completely or not at all. */
export function writeAdminFile(data: string, file: Pick<AdminFile, 'version' | 'pipe'>): void {
  writeAtomicallySync(adminFileOf(data), JSON.stringify({ ...file, pid: process.pid, host: hostname() }));
}

/** Undefined if the file does not exist or is from an earlier version. */
export function readAdminFile(data: string): AdminFile | undefined {
  try {
    return adminFile.parse(JSON.parse(readFileSync(adminFileOf(data), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Removes the file if this process wrote it. */
export function removeAdminFile(data: string): void {
  if (readAdminFile(data)?.pid === process.pid) rmSync(adminFileOf(data), { force: true });
}

function adminFileOf(data: string): string {
  return join(data, 'admin.json');
}
