import { AppError } from '../../core/errors.ts';
import { formatBytes, formatCredits, formatDuration } from '../../core/text/format.ts';
import { nearest } from '../../core/text/similar.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { BatchFinding } from '../batch/batchTerms.ts';
import type { ScriptFinding } from '../selection/scriptReview.ts';
import { estimateCost, readRateCard } from './estimate.ts';
import type { SecretFinding } from './secretFindings.ts';
import { readLimits, readMachineClasses } from './serviceLimits.ts';

const SHOWN_CLASSES = 8;

/** The terms of a job that a service can refuse without seeing the files. */
export interface JobTerms {
  readonly machineClass?: string | undefined;
  /** Seconds. */
  readonly maxRuntime: number;
  /** About how large the archive will be. */
  readonly estimatedBytes?: number;
}

/** Something about a job that the service will refuse (`error`), or that it may refuse or charge for (`warning`). */
export interface JobFinding {
  readonly type:
    | 'machine-class'
    | 'time-limit'
    | 'credits'
    | 'budget'
    | 'upload-size'
    | BatchFinding['type']
    | SecretFinding['type']
    | ScriptFinding['type'];
  readonly severity: 'error' | 'warning';
  /** What is wrong, as a sentence without its full stop. */
  readonly summary: string;
  /** What it means and what to do, in sentences. */
  readonly detail: string;
}

/**
 * Compares a job with what its service accepts, before anything is packed. Limits that the service does not state are not checked.
 *
 * @param account the response of `GET /v1/me`; undefined if there is none.
 * @param service the name of the service in sentences.
 * @returns errors and warnings; empty if nothing is known to be wrong.
 */
export function preflightJob(account: unknown, terms: JobTerms, service: string): readonly JobFinding[] {
  const timeLimit = checkTimeLimit(account, terms, service);
  // The price for a time limit that must change is meaningless.
  const credits = timeLimit.length === 0 ? checkCredits(account, terms) : [];
  return [
    ...checkMachineClass(account, terms, service),
    ...timeLimit,
    ...credits,
    ...checkSize(account, terms, service),
  ];
}

/** Refuses a job with errors. @throws AppError `bad-input`, or `no-credits` if credits are the only problem. */
export function refuseErrors(
  findings: readonly JobFinding[],
  describe: (finding: JobFinding) => string = describeFinding,
): void {
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const code = isAboutCredits(errors) ? 'no-credits' : 'bad-input';
  throw new AppError(code, `${errors.map(describe).join(' ')} Nothing was sent.`);
}

/** Whether all problems are a lack of credits, or a budget. */
export function isAboutCredits(findings: readonly JobFinding[]): boolean {
  return findings.every(({ type }) => type === 'credits' || type === 'budget');
}

export function describeFinding({ summary, detail }: JobFinding): string {
  return `${summary}. ${detail}`;
}

/** Refuses an archive that is larger than the service accepts. @throws AppError `limit`. */
export function checkArchiveSize(bytes: number, maxBytes: number | undefined): void {
  if (maxBytes === undefined || bytes <= maxBytes) return;
  const sizes = `The archive has ${formatBytes(bytes)}, and the service accepts at most ${formatBytes(maxBytes)}`;
  throw new AppError('limit', `${sizes}, so nothing was sent. Leave files out in .farwharfignore.`);
}

function checkMachineClass(account: unknown, { machineClass: name }: JobTerms, service: string): JobFinding[] {
  const known = readMachineClasses(account);
  if (name === undefined || name === '' || known === undefined || known.some((names) => names.includes(name)))
    return [];
  const names = known.flatMap(([first]) => first ?? []);
  const prices = new Map(readRateCard(account).map((rate) => [rate.machineClass, rate.creditsPerMinute]));
  const offers = names.slice(0, SHOWN_CLASSES).map((one) => {
    const price = prices.get(one);
    return price === undefined ? one : `${one} (${formatCredits(price)} credits a minute)`;
  });
  const more = names.length > offers.length ? ` and ${names.length - offers.length} more` : '';
  const guess = nearest(name, names);
  const detail = `Available: ${offers.join(', ')}${more}.${guess === undefined ? '' : ` Did you mean "${guess}"?`}`;
  const summary = `Machine class "${name}" does not exist on ${service}`;
  return [{ type: 'machine-class', severity: 'error', summary: printableLine(summary), detail: printableLine(detail) }];
}

function checkTimeLimit(account: unknown, { maxRuntime }: JobTerms, service: string): JobFinding[] {
  const most = readLimits(account).maxRuntime;
  if (most === undefined || maxRuntime <= most) return [];
  const summary = `A time limit of ${formatDuration(maxRuntime)} is too long for ${service}`;
  const detail = `Jobs may run for at most ${formatDuration(most)} (${most} seconds).`;
  return [{ type: 'time-limit', severity: 'error', summary, detail }];
}

function checkCredits(account: unknown, terms: JobTerms): JobFinding[] {
  const estimate = estimateCost(account, terms);
  if (estimate.type === 'unknown') return [];
  const { highest, balance } = estimate;
  if (balance === null || highest <= balance) return [];
  // A service that states limits reserves the highest price. What others do with an account that cannot cover it is unknown.
  const severity = readLimits(account).isStated ? 'error' : 'warning';
  const summary = `You need ${formatCredits(highest - balance)} more credits`;
  const detail = `The job can cost up to ${formatCredits(highest)} credits, and you have ${formatCredits(balance)}.`;
  return [{ type: 'credits', severity, summary, detail }];
}

function checkSize(account: unknown, { estimatedBytes }: JobTerms, service: string): JobFinding[] {
  const most = readLimits(account).maxUploadBytes;
  if (most === undefined || estimatedBytes === undefined || estimatedBytes <= most) return [];
  const summary = `The archive may be too large for ${service}`;
  const detail = `It will have about ${formatBytes(estimatedBytes)}, and at most ${formatBytes(most)} are accepted. Leave files out in .farwharfignore.`;
  return [{ type: 'upload-size', severity: 'warning', summary, detail }];
}
