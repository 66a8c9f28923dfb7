import { printableLine } from '../../core/text/printable.ts';
import { describeOutcome, describeResultCount } from './describeJob.ts';
import { elapsedSeconds, hasSucceeded, type JobRecord } from '../ledger/record.ts';
import { shownScript } from '../selection/script.ts';

const TEXT_LIMIT = 2_000;

/** What is reported at the end of a job. Times are ISO 8601, money is credits; null is unknown. */
export interface EndReport {
  /** One sentence, under the name that chat services expect. */
  readonly text: string;
  readonly job_id: string | null;
  readonly state: string;
  readonly succeeded: boolean;
  readonly exit_code: number | null;
  readonly reason: string | null;
  readonly script: string;
  readonly project: string | null;
  readonly service: string;
  readonly machine_class: string | null;
  readonly folder: string;
  readonly seconds: number | null;
  readonly credits_charged: number | null;
  readonly finished_at: string | null;
}

/** The report of a job that has ended. Its texts are bounded and have no control characters. */
export function endReport(record: JobRecord): EndReport {
  const script = line(shownScript(record.script));
  return {
    text: line(`${script}: ${describeOutcome(record, describeResultCount(record))}`),
    job_id: record.jobId === null ? null : line(record.jobId),
    state: line(record.state),
    succeeded: hasSucceeded(record),
    exit_code: record.exitCode,
    reason: record.reason === null ? null : line(record.reason),
    script,
    project: record.project === null ? null : line(record.project),
    service: line(record.host),
    machine_class: record.machineClass === null ? null : line(record.machineClass),
    folder: line(record.folder),
    seconds: elapsedSeconds(record, Date.now()),
    credits_charged: record.creditsCharged,
    finished_at: record.finishedAt,
  };
}

/** The report as environment variables: `FARWHARF_JOB_ID`, `FARWHARF_STATE`, …; empty if unknown. */
export function endVariables(report: EndReport): Record<string, string> {
  return Object.fromEntries(
    Object.entries(report).map(([name, value]) => [`FARWHARF_${name.toUpperCase()}`, String(value ?? '')]),
  );
}

function line(text: string): string {
  return printableLine(text).slice(0, TEXT_LIMIT);
}

/** Whether the end of a job is worth a notification: the user watched the job, or it ran for at least `notifyAfter` seconds. */
export function isWorthTelling(
  record: JobRecord,
  { isWatched, notifyAfter }: { readonly isWatched: boolean; readonly notifyAfter: number },
): boolean {
  // A job that never ran has no duration, and the user should learn why it did not start.
  return isWatched || (elapsedSeconds(record, Date.now()) ?? Number.POSITIVE_INFINITY) >= notifyAfter;
}
