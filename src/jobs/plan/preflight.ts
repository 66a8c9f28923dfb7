import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { formatBytes, formatCredits, formatDuration } from '../../core/text/format.ts';
import { nearest } from '../../core/text/similar.ts';
import { printableLine } from '../../core/text/printable.ts';
import { DEBUG_FEATURE, type DebugOptions } from '../../remote/protocol/debugging.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import { estimateCost, isMoreCredits, readRateCard } from './estimate.ts';
import { readFeatures, readLimits, readMachineClasses, whyUnavailable } from './serviceLimits.ts';

const SHOWN_CLASSES = 8;

/** The terms of a job that a service can refuse without seeing the files. */
export interface JobTerms {
  readonly machineClass?: string | undefined;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly debug?: DebugOptions | undefined;
  /** About how large the archive will be. */
  readonly estimatedBytes?: number;
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
    ...checkDebug(account, terms, service),
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
  throw new AppError(code, l10n.t('{0} Nothing was sent.', errors.map(describe).join(' ')));
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
  throw new AppError(
    'limit',
    l10n.t(
      'The archive has {0}, and the service accepts at most {1}, so nothing was sent. Leave files out in .farwharfignore.',
      formatBytes(bytes),
      formatBytes(maxBytes),
    ),
  );
}

function checkMachineClass(account: unknown, { machineClass: name }: JobTerms, service: string): JobFinding[] {
  if (name === undefined || name === '') return [];
  const why = whyUnavailable(account, name);
  if (why !== undefined) {
    const summary = printableLine(l10n.t('Machine class "{0}" is not available on {1}', name, service));
    return [{ type: 'machine-class', severity: 'error', summary, detail: printableLine(why) }];
  }
  const known = readMachineClasses(account);
  if (known === undefined || known.some((names) => names.includes(name))) return [];
  const names = known.flatMap(([first]) => first ?? []);
  const prices = new Map(readRateCard(account).map((rate) => [rate.machineClass, rate.creditsPerMinute]));
  const offers = names.slice(0, SHOWN_CLASSES).map((one) => {
    const price = prices.get(one);
    return price === undefined || price === null
      ? one
      : l10n.t('{0} ({1} credits a minute)', one, formatCredits(price));
  });
  const rest = names.length - offers.length;
  const list = rest > 0 ? l10n.t('{0} and {1} more', offers.join(', '), rest) : offers.join(', ');
  const guess = nearest(name, names);
  const sentences = [
    l10n.t('Available: {0}.', list),
    ...(guess === undefined ? [] : [l10n.t('Did you mean "{0}"?', guess)]),
  ];
  const detail = sentences.join(' ');
  const summary = l10n.t('Machine class "{0}" does not exist on {1}', name, service);
  return [{ type: 'machine-class', severity: 'error', summary: printableLine(summary), detail: printableLine(detail) }];
}

function checkTimeLimit(account: unknown, { maxRuntime }: JobTerms, service: string): JobFinding[] {
  const most = readLimits(account).maxRuntime;
  if (most === undefined || maxRuntime <= most) return [];
  const summary = l10n.t('A time limit of {0} is too long for {1}', formatDuration(maxRuntime), service);
  const detail = l10n.t('Jobs may run for at most {0} ({1} seconds).', formatDuration(most), most);
  return [{ type: 'time-limit', severity: 'error', summary, detail }];
}

function checkDebug(account: unknown, { debug }: JobTerms, service: string): JobFinding[] {
  if (debug === undefined) return [];
  if (account !== undefined && !readFeatures(account).includes(DEBUG_FEATURE)) {
    const summary = printableLine(l10n.t('Jobs of {0} cannot wait for a debugger', service));
    const detail = l10n.t('Submit the job without a debugger, or update the service.');
    return [{ type: 'debug', severity: 'error', summary, detail }];
  }
  const most = readLimits(account).maxHold;
  if (most === undefined || debug.hold <= most) return [];
  const summary = printableLine(l10n.t('A hold time of {0} is too long for {1}', formatDuration(debug.hold), service));
  const detail = l10n.t('Jobs may be frozen for at most {0}.', formatDuration(most));
  return [{ type: 'debug', severity: 'error', summary, detail }];
}

function checkCredits(account: unknown, terms: JobTerms): JobFinding[] {
  const estimate = estimateCost(account, terms);
  if (estimate.type !== 'known') return [];
  const { highest, balance } = estimate;
  if (balance === null || !isMoreCredits(highest, balance)) return [];
  // A service that states limits reserves the highest price. What others do with an account that cannot cover it is unknown.
  const severity = readLimits(account).isStated ? 'error' : 'warning';
  const summary = l10n.t('You need {0} more credits', formatCredits(highest - balance));
  const detail = l10n.t(
    'The job can cost up to {0} credits, and you have {1}.',
    formatCredits(highest),
    formatCredits(balance),
  );
  return [{ type: 'credits', severity, summary, detail }];
}

function checkSize(account: unknown, { estimatedBytes }: JobTerms, service: string): JobFinding[] {
  const most = readLimits(account).maxUploadBytes;
  if (most === undefined || estimatedBytes === undefined || estimatedBytes <= most) return [];
  const summary = l10n.t('The archive may be too large for {0}', service);
  const detail = l10n.t(
    'It will have about {0}, and at most {1} are accepted. Leave files out in .farwharfignore.',
    formatBytes(estimatedBytes),
    formatBytes(most),
  );
  return [{ type: 'upload-size', severity: 'warning', summary, detail }];
}
