import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { AppError, systemCode } from '../core/errors.ts';
import type { ClaimMarker, ExitMarker, StartedMarker } from './runner/jobFolder.ts';

// The script can write into its job's folder, so nothing in there is believed before it is checked.
// Milliseconds since 1970, as far as a date can go (ECMA-262, "Time Values and Time Range").
const time = z.number().min(0).max(8.64e15);
const claimMarker: z.ZodType<ClaimMarker> = z.object({ pid: z.int().positive(), identity: z.string() });
const startedMarker: z.ZodType<StartedMarker> = z.object({
  pid: z.int().positive(),
  // Runners of an earlier version did not tell.
  identity: z.string().default(''),
  boot: z.string().default(''),
  at: time,
});
const exitMarker: z.ZodType<ExitMarker> = z.object({
  outcome: z.enum(['exited', 'timed_out', 'cancelled', 'not-started', 'stopped', 'over_limit']),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  detail: z.string().nullable(),
  at: time,
  ranSeconds: z.number().nonnegative(),
});
const manifest = z.array(z.object({ path: z.string(), size: z.number(), sha256: z.string() }));

export type SubmittedFiles = z.infer<typeof manifest>;

export const readClaim = (path: string): Promise<ClaimMarker | undefined> => readChecked(path, claimMarker);
export const readStarted = (path: string): Promise<StartedMarker | undefined> => readChecked(path, startedMarker);
export const readExit = (path: string): Promise<ExitMarker | undefined> => readChecked(path, exitMarker);
export const readManifest = (path: string): Promise<SubmittedFiles | undefined> => readChecked(path, manifest);

/** @throws AppError `corrupt` when the file is there and is not what it should be. */
async function readChecked<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError('corrupt', `The file ${path} of a job was changed.`, { cause });
  }
}
