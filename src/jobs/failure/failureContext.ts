import { AppError } from '../../core/errors.ts';
import { printableText } from '../../core/text/printable.ts';
import { stateWord } from '../ledger/jobIcon.ts';
import { hasSucceeded, isOver, type JobRecord } from '../ledger/record.ts';
import { EventSpool } from '../log/spool.ts';
import type { JobService } from '../service/api.ts';
import type { FailureDetails, ReadDetails } from './failureDetails.ts';
import { failureHints } from './failureHints.ts';
import { recentLines } from './recentLines.ts';

const MAX_LINES = 60;
const MAX_LINE = 500;

/** What a person or a model needs to find out why a job failed. All texts are cleaned for display. */
export interface FailureContext extends Omit<FailureDetails, 'missing'> {
  readonly record: JobRecord;
  /** The last lines of the output, oldest first. */
  readonly lines: readonly string[];
  /** Known causes, in sentences. */
  readonly hints: readonly string[];
}

interface FailureSources {
  readonly service: Pick<JobService, 'streamEvents'>;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly details: ReadDetails;
}

/**
 * Collects why a job failed: its last lines, the code they name, what changed since the script last succeeded, and known causes.
 *
 * @param record up to date.
 * @throws AppError `bad-input` for a job that has not failed; the service's error if the output is not stored here and cannot be read.
 */
export async function failureContext(
  { service, home, details }: FailureSources,
  record: JobRecord & { readonly jobId: string },
  signal: AbortSignal,
): Promise<FailureContext> {
  if (!isOver(record))
    throw new AppError('bad-input', `Job ${record.jobId} has not failed: its state is ${stateWord(record.state)}.`);
  if (hasSucceeded(record)) throw new AppError('bad-input', `Job ${record.jobId} has not failed: it succeeded.`);
  const spool = new EventSpool(home, record.id);
  const all = await recentLines({ service, spool, jobId: record.jobId }, signal);
  const output = all.map((line) => printableText(line.slice(0, MAX_LINE)));
  while (output.at(-1)?.trim() === '') output.pop();
  const { missing, ...found } = await details(record, output);
  return { record, lines: output.slice(-MAX_LINES), ...found, hints: failureHints(record, output, missing) };
}
