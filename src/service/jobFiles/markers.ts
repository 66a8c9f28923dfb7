import * as z from 'zod';
import { changedByJob, readJobText } from './jobFileReading.ts';

// The script can write to its job's folder, so nothing in it is trusted before it is checked.
const MAX_MARKER_BYTES = 64 * 1024;
// A line for each of a million files.
const MAX_MANIFEST_BYTES = 512 * 1024 * 1024;
// Milliseconds since 1970, within the range of a date (ECMA-262, "Time Values and Time Range").
const time = z.int().min(0).max(8.64e15);
const processReference = z.object({ pid: z.int().positive(), identity: z.string() });

const startedMarker = z.object({
  /** Process ID of the script, which is also the ID of its process group. */
  pid: z.int().positive(),
  /** Distinguish the process from later ones with the same ID: `processIdentity` and `bootIdentity`. Earlier runners lack them. */
  identity: z.string().default(''),
  boot: z.string().default(''),
  at: time,
  /** The first process of the script's sandbox, if it has one. */
  init: processReference.optional(),
  /** Seconds that programs of the job ran before, to install its packages. */
  usedSeconds: z.number().nonnegative().default(0),
  /** When the time limit ends this program, in milliseconds of the clock that all processes of a boot share (`steadyMs`). */
  deadline: z.number().optional(),
});

const exitMarker = z.object({
  outcome: z.enum(['exited', 'timed_out', 'cancelled', 'not-started', 'stopped', 'removed', 'over_limit']),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  /** A sentence for people, if the outcome alone is not clear. */
  detail: z.string().nullable(),
  at: time,
  /** Seconds that the job ran: its setup and its script. */
  ranSeconds: z.number().nonnegative(),
  /** Seconds that it was frozen beside that, and computed nothing; absent for a job that cannot be debugged. */
  frozenSeconds: z.number().nonnegative().optional(),
  /** Whether the runner received a signal to stop before it wrote this. Earlier runners did not record it. */
  wasToldToEnd: z.boolean().optional(),
  /** Proves that the runner wrote this, if the executor can give it a secret: `reportSeal.ts`. */
  seal: z.string().optional(),
});

const manifest = z.array(z.object({ path: z.string(), size: z.number(), sha256: z.string() }));

/** The process that runs a job. */
export type ClaimMarker = Readonly<z.infer<typeof processReference>>;
/** That a program of the job runs, since when and as which process. */
export type StartedMarker = Readonly<z.infer<typeof startedMarker>>;
/** How the job ended. */
export type ExitMarker = Readonly<z.infer<typeof exitMarker>>;
export type SubmittedManifest = z.infer<typeof manifest>;

/** Each returns undefined if the file does not exist. @throws AppError `corrupt` for a file that is not what it should be. */
export const readClaim = reader(processReference, MAX_MARKER_BYTES);
export const readStarted = reader(startedMarker, MAX_MARKER_BYTES);
export const readExit = reader(exitMarker, MAX_MARKER_BYTES);
export const readSubmittedManifest = reader(manifest, MAX_MANIFEST_BYTES);

/** The program of a job that was started last; undefined before the first one, and if the job has damaged its marker. */
export async function latestProgram(
  folder: Readonly<Record<'started' | 'installing', string>>,
): Promise<StartedMarker | undefined> {
  for (const path of [folder.started, folder.installing]) {
    const program = await readStarted(path).catch(() => undefined);
    if (program !== undefined) return program;
  }
  return undefined;
}

function reader<T>(schema: z.ZodType<T>, maxBytes: number): (path: string) => Promise<T | undefined> {
  return async (path) => {
    const text = await readJobText(path, maxBytes);
    if (text === undefined) return undefined;
    try {
      return schema.parse(JSON.parse(text));
    } catch (cause) {
      throw changedByJob(path, cause);
    }
  };
}
