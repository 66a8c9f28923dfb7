import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { frozen } from '../../remote/protocol/debugging.ts';
import { readerOf } from '../../remote/protocol/received.ts';
import { jobReport } from '../../remote/protocol/schemas.ts';
import { JOB_TERMS, type JobTermName } from '../../remote/protocol/jobTerms.ts';
import { stateOfWord } from '../../remote/protocol/spellings.ts';
import { isFinalState } from '../../remote/protocol/states.ts';
import { jobSweep } from './parameters.ts';

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;
type Report = z.output<typeof jobReport>;
type ReportedShape = {
  [Name in Exclude<keyof Report, 'frozen'> as CamelCase<Name>]: NonNullable<Report[Name]> extends number
    ? typeof number
    : typeof text;
};

type StoredTerms = { [Name in JobTermName]: (typeof JOB_TERMS)[Name]['stored'] };

const text = z.string().nullable().default(null);
const number = z.number().nullable().default(null);

/** What the flow of a job waits for, and the path of the node that asks. */
export const jobPause = z.object({
  path: z.string(),
  /** The JSON Schema of the answer. */
  input: z.record(z.string(), z.unknown()).optional(),
  choices: z.array(z.string()).optional(),
  question: z.string(),
});

/** One job in the ledger. Times are ISO 8601, durations are seconds, money is credits. */
const fields = z.object({
  ...reportedShape(),
  /** Where the job waits for a debugger; null while it does not. */
  frozen: frozen.nullable().default(null),
  ...termsShape(),
  /** Our own UUID, which exists before the service assigns a job ID. */
  id: z.string(),
  /** `local` for the embedded service, else the base URL without a trailing `/`. */
  host: z.string(),
  /** The service's account ID, if it reports one. */
  account: text,
  /** The service's job ID; null until it has accepted the job. */
  jobId: text,
  /**
   * `sending` during the upload, `unknown` if the response to the upload was lost, otherwise the service's own word. Unrecognized words
   * are stored and shown unchanged.
   */
  state: z.string(),
  /** The script that runs the command, as its service runs scripts only; null for other jobs. */
  commandScript: text,
  /** Credits per minute on this machine class when the job was sent; null if it has no price or the rate card does not list it. */
  creditsPerMinute: number,
  /** Absolute path of the folder that was sent. */
  folder: z.string(),
  /** Where the results go, relative to the folder; null for the folder itself. */
  resultsFolder: text,
  createdAt: z.string(),
  gitCommit: text,
  /** How many files differed from that commit or were not in it; null if unknown. */
  gitChanges: number,
  /** Absolute path of the archive that was sent, which may have been removed since. */
  archive: text,
  archiveBytes: number,
  lastLogLine: text,
  /** How many files the job created or changed and, if the submitted files are known, how many of them are new; null if unknown. */
  results: z.object({ files: z.number(), added: z.number().nullable() }).nullable().default(null),
  downloadedAt: text,
  /** The question of a flow whose job ended to wait for the answer; null for any other job. */
  waiting: jobPause.nullable().default(null),
  /** The ID of the job that continued with the answer. */
  answeredBy: text,
  /** The sweep that the job belongs to; null for a job on its own. */
  sweep: jobSweep.nullable().default(null),
  /** Whether the user removed the job from the list; the record itself stays. */
  removed: z.boolean().default(false),
  /** Whether the user pinned the job to the top of the list. */
  pinned: z.boolean().default(false),
});
export type JobRecord = Readonly<z.output<typeof fields>>;

/** A record from the ledger's JSON, including fields that a newer version wrote. */
export const storedRecord = fields.loose();

/** Whether two records of a job have the same fields. Most fields are plain values, so this is much faster than a deep comparison. */
export function isSameRecord(one: JobRecord, other: JobRecord): boolean {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => {
    const left: unknown = Reflect.get(one, name);
    const right: unknown = Reflect.get(other, name);
    return left === right || (typeof left === 'object' && isDeepStrictEqual(left, right));
  });
}

/** A record of a job; fields that are not given are unknown. */
export function newRecord(values: z.input<typeof fields>): JobRecord {
  return fields.parse(values);
}

/** The name in a record for a field that the service reports. */
export function recordName(wireName: string): string {
  return wireName.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The fields that the service reports, all unknown at first. */
function reportedShape(): ReportedShape;
function reportedShape(): z.ZodRawShape {
  const shape = Object.entries(jobReport.omit({ frozen: true }).shape);
  return Object.fromEntries(shape.map(([name, field]) => [recordName(name), readerOf(field).nullable().default(null)]));
}

/** The terms of the job. */
function termsShape(): StoredTerms;
function termsShape(): z.ZodRawShape {
  return Object.fromEntries(Object.entries(JOB_TERMS).map(([name, { stored }]) => [name, stored]));
}

/** Fields that may change after a record was created. */
export type JobPatch = Partial<Omit<JobRecord, 'id'>>;

/** Whether the job has ended: its state is final, or the service reported when or how it ended. */
export function isOver(record: Pick<JobRecord, 'state' | 'finishedAt' | 'exitCode'>): boolean {
  return record.finishedAt !== null || record.exitCode !== null || isFinalState(stateOfWord(record.state) ?? '');
}

/** Whether the job succeeded: its state says so, and its exit code is not other than 0. */
export function hasSucceeded(record: Pick<JobRecord, 'state' | 'exitCode'>): boolean {
  return stateOfWord(record.state) === 'succeeded' && (record.exitCode ?? 0) === 0;
}

/** Whether the job has ended to wait for an answer, and nobody has answered. */
export function isWaiting(
  record: JobRecord,
): record is JobRecord & { readonly waiting: NonNullable<JobRecord['waiting']> } {
  return record.waiting !== null && record.answeredBy === null && isOver(record);
}

// Computers that set their clocks over the network are closer than this.
const MAX_CLOCK_ERROR_S = 60;

/**
 * Seconds that the job has run so far or in total; null before it starts, and if the clocks of this computer and of the service differ so
 * much that the time is unknown. `now` is in milliseconds.
 */
export function elapsedSeconds(
  record: Pick<JobRecord, 'createdAt' | 'startedAt' | 'finishedAt' | 'state' | 'exitCode'>,
  now: number,
): number | null {
  if (record.startedAt === null) return null;
  if (record.finishedAt !== null) return secondsUntil(Date.parse(record.finishedAt), record.startedAt);
  return isOver(record) ? null : secondsSince(record.startedAt, record, now);
}

/** Seconds from a time of the service to `now`, in milliseconds; null if that time is in the future. */
export function secondsSince(time: string, { createdAt }: Pick<JobRecord, 'createdAt'>, now: number): number | null {
  if ((Date.parse(time) - now) / 1_000 > MAX_CLOCK_ERROR_S) return null;
  const seconds = secondsUntil(now, time);
  // Since the job was sent, by the clock of this computer. If less time has passed, the clock of the service is behind.
  const sinceSent = (now - Date.parse(createdAt)) / 1_000;
  return seconds !== null && sinceSent >= 0 ? Math.min(seconds, sinceSent) : seconds;
}

function secondsUntil(end: number, start: string): number | null {
  const seconds = (end - Date.parse(start)) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

/** Whether the machine class of the job has no price, so that the job costs no credits. */
export function isUnpriced(record: JobRecord): record is JobRecord & { readonly unpricedCpus: number } {
  return record.unpricedCpus !== null;
}

/** Whether the service has accepted the job and it has not ended, so that it can be followed and cancelled. */
export function isActive(record: JobRecord): boolean {
  return record.jobId !== null && !isOver(record);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text can be the `id` of a record. No such text leads out of a folder. */
export function isRecordId(text: string): boolean {
  return UUID.test(text);
}

// The start of a random ID. Times and counters have no letters and start alike.
const RANDOM = /^(?=\d{0,7}[a-f])[0-9a-f]{8}[0-9a-f-]+$/;

/**
 * The ID that people type: the service's job ID, its start if it is long, or the start of our UUID if the service's would not be
 * distinctive.
 */
export function shortId({ id, jobId }: Pick<JobRecord, 'id' | 'jobId'>): string {
  if (jobId !== null && jobId.length <= 16) return jobId;
  return (jobId !== null && RANDOM.test(jobId) ? jobId : id).slice(0, 8);
}
