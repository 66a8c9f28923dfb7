import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { writeAtomicallySync } from '../core/files/atomicFile.ts';

const serviceState = z.object({
  url: z.url(),
  /** The Unix socket that it listens on in place of a port. */
  socket: z.string().optional(),
  key: z.string().min(1),
  pid: z.int().positive(),
  version: z.string(),
});

/** How other programs of this user find the service. */
export type ServiceState = z.infer<typeof serviceState>;

/** Writes the file completely or not at all, readable by this user only. */
export function writeStateFile(path: string, state: ServiceState): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  chmodSync(dirname(path), 0o700);
  writeAtomicallySync(path, JSON.stringify(state));
}

/** Undefined if the file does not exist or is not valid. */
export function readStateFile(path: string): ServiceState | undefined {
  try {
    return serviceState.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Deletes the file unless another process has written it since. */
export function removeStateFile(path: string, pid: number): void {
  if (readStateFile(path)?.pid === pid) rmSync(path, { force: true });
}
