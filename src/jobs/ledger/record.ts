import { stateOfWord } from '../../remote/protocol/spellings.ts';
import { isFinalState, type JobState } from '../../remote/protocol/states.ts';

/**
 * What is known of a job: `sending` while its upload runs, `unknown` when the answer to the upload was lost, otherwise
 * the service's own word. A word that is not known here is kept and shown as it is.
 */
type RecordState = JobState | 'sending' | 'unknown' | (string & Record<never, never>);

/** One job in the ledger. Times are ISO 8601, durations are seconds, money is credits. */
export interface JobRecord {
  /** Our own UUID: it exists before the service has given the job an id. */
  readonly id: string;
  /** `local` for the embedded service, else the base URL without a trailing `/`. */
  readonly host: string;
  /** The service's account id, where it tells one. */
  readonly account: string | null;
  /** The service's id; null until it accepted the job. */
  readonly jobId: string | null;
  readonly state: RecordState;
  readonly script: string;
  readonly project: string | null;
  readonly machineClass: string | null;
  /** Credits for a minute on this machine class when the job was sent; null where the rate card does not tell. */
  readonly creditsPerMinute: number | null;
  readonly maxRuntime: number;
  readonly venv: Readonly<Record<string, unknown>> | null;
  /** Absolute path of the folder that was sent. */
  readonly folder: string;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly exitCode: number | null;
  /** Why it is in this state, in the service's words or ours. */
  readonly reason: string | null;
  readonly creditHold: number | null;
  readonly creditsCharged: number | null;
  readonly gitCommit: string | null;
  /** Absolute path of the archive that was sent; it may have been pruned since. */
  readonly archive: string | null;
  readonly archiveBytes: number | null;
  readonly lastLogLine: string | null;
  readonly downloadedAt: string | null;
  /** Taken off the list by a person; the record itself stays. */
  readonly removed: boolean;
}

/** Fields that may change after a record was made. */
export type JobPatch = Partial<Omit<JobRecord, 'id'>>;

/** Whether nothing more will happen to the job: its state is a final one, or the service reported when or how it ended. */
export function isOver(record: Pick<JobRecord, 'state' | 'finishedAt' | 'exitCode'>): boolean {
  return record.finishedAt !== null || record.exitCode !== null || isFinalState(stateOfWord(record.state) ?? '');
}

/** Whether the job ended well: a good final state, and no exit code other than 0. */
export function hasSucceeded(record: Pick<JobRecord, 'state' | 'exitCode'>): boolean {
  return stateOfWord(record.state) === 'succeeded' && (record.exitCode ?? 0) === 0;
}

/** Whether the service has the job and works on it: it can be followed and cancelled. */
export function isActive(record: JobRecord): boolean {
  return record.jobId !== null && !isOver(record);
}

/** What people type to name a job: the service's id, or the start of ours while there is none. */
export function shortId(record: Pick<JobRecord, 'id' | 'jobId'>): string {
  return record.jobId !== null && record.jobId.length <= 16 ? record.jobId : record.id.slice(0, 8);
}
