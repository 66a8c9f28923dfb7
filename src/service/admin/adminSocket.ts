import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { writeAtomicallySync } from '../../core/files/atomicFile.ts';
import { openSocketAddress, type SocketAddress } from '../../core/files/socketAddress.ts';

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

/** The socket of a service, in its data folder, so that only users who may enter the folder reach it. */
export function adminSocketOf(data: string): string {
  return join(data, 'admin.sock');
}

/** A new name for the pipe of a service on Windows, which has no sockets in folders; undefined on other systems. */
export function newPipe(): string | undefined {
  return process.platform === 'win32'
    ? `\\\\.\\pipe\\farwharf-${randomBytes(PIPE_NAME_BYTES).toString('hex')}`
    : undefined;
}

/** The address of a service's socket, or of its pipe. @throws as `openSocketAddress`. */
export function openAdminAddress(data: string, pipe: string | undefined): SocketAddress {
  return pipe === undefined ? openSocketAddress(adminSocketOf(data)) : { path: pipe, [Symbol.dispose]: () => {} };
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
