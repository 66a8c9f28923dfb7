import * as z from 'zod';
import { changedByJob, readJobText } from './jobFileReading.ts';
import type { ClaimMarker, ExitMarker, StartedMarker } from './jobFolder.ts';

// The script can write into its job's folder, so nothing in there is believed before it is checked.
const MAX_MARKER_BYTES = 64 * 1024;
// A line for each of a million files.
const MAX_MANIFEST_BYTES = 512 * 1024 * 1024;
// Milliseconds since 1970, as far as a date can go (ECMA-262, "Time Values and Time Range").
const time = z.int().min(0).max(8.64e15);
const claimMarker: z.ZodType<ClaimMarker> = z.object({ pid: z.int().positive(), identity: z.string() });
const startedMarker: z.ZodType<StartedMarker> = z.object({
  pid: z.int().positive(),
  // Runners of an earlier version did not tell.
  identity: z.string().default(''),
  boot: z.string().default(''),
  at: time,
  init: z.object({ pid: z.int().positive(), identity: z.string() }).optional(),
});
const exitMarker: z.ZodType<ExitMarker> = z.object({
  outcome: z.enum(['exited', 'timed_out', 'cancelled', 'not-started', 'stopped', 'over_limit']),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  detail: z.string().nullable(),
  at: time,
  ranSeconds: z.number().nonnegative(),
  wasToldToEnd: z.boolean().optional(),
  seal: z.string().optional(),
});
const manifest = z.array(z.object({ path: z.string(), size: z.number(), sha256: z.string() }));

export type SubmittedFiles = z.infer<typeof manifest>;

export const readClaim = (path: string): Promise<ClaimMarker | undefined> =>
  readChecked(path, claimMarker, MAX_MARKER_BYTES);
export const readStarted = (path: string): Promise<StartedMarker | undefined> =>
  readChecked(path, startedMarker, MAX_MARKER_BYTES);
export const readExit = (path: string): Promise<ExitMarker | undefined> =>
  readChecked(path, exitMarker, MAX_MARKER_BYTES);
export const readManifest = (path: string): Promise<SubmittedFiles | undefined> =>
  readChecked(path, manifest, MAX_MANIFEST_BYTES);

/** @throws AppError `corrupt` when the file is there and is not what it should be. */
async function readChecked<T>(path: string, schema: z.ZodType<T>, maxBytes: number): Promise<T | undefined> {
  const text = await readJobText(path, maxBytes);
  if (text === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw changedByJob(path, cause);
  }
}
