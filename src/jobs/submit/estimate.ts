import * as l10n from '@vscode/l10n';
import { formatCredits } from '../../core/text/format.ts';
import { receivedAccount } from '../../remote/protocol/schemas.ts';
import { isOver, type JobRecord } from '../ledger/record.ts';

export interface Rate {
  readonly machineClass: string | null;
  readonly creditsPerMinute: number;
  readonly description: string | null;
}

export type CostEstimate =
  | {
      readonly type: 'known';
      readonly creditsPerMinute: number;
      /** If the job runs to its time limit. */
      readonly highest: number;
      /** Credits left now; null if the account does not state them. */
      readonly balance: number | null;
    }
  | { readonly type: 'unknown'; readonly reason: string; readonly balance: number | null };

/** The rates in the response of `GET /v1/me`; empty if none is recognized. */
export function readRateCard(account: unknown): Rate[] {
  const card = receivedAccount.safeParse(account).data?.rate_card ?? [];
  return card.flatMap(({ machine_class: machineClass, credits_per_minute: creditsPerMinute, description }) =>
    isAmount(creditsPerMinute)
      ? [{ machineClass: machineClass ?? null, creditsPerMinute, description: description ?? null }]
      : [],
  );
}

/** Credits left, from the response of `GET /v1/me`; null if it does not state them. */
export function readBalance(account: unknown): number | null {
  const credits = receivedAccount.safeParse(account).data?.credits;
  return isAmount(credits) ? credits : null;
}

/** The rate for a machine class, or without one the rate of the only class; undefined if unknown. */
export function findRate(account: unknown, machineClass: string | undefined): Rate | undefined {
  const card = readRateCard(account);
  if (machineClass === undefined || machineClass === '') return card.length === 1 ? card[0] : undefined;
  return card.find((rate) => rate.machineClass === machineClass);
}

/** The highest cost of a job: its time limit (seconds) at the rate of its machine class. */
export function estimateCost(
  account: unknown,
  job: { machineClass?: string | undefined; maxRuntime: number },
): CostEstimate {
  const balance = readBalance(account);
  const rate = findRate(account, job.machineClass);
  if (rate === undefined) {
    return { type: 'unknown', reason: whyUnknown(account, job), balance };
  }
  const { creditsPerMinute } = rate;
  return { type: 'known', creditsPerMinute, highest: (creditsPerMinute * job.maxRuntime) / 60, balance };
}

function whyUnknown(account: unknown, { machineClass = '', maxRuntime }: Parameters<typeof estimateCost>[1]): string {
  if (machineClass !== '') return l10n.t('No price is listed for {0}.', machineClass);
  const highest = readRateCard(account).reduce((most, rate) => Math.max(most, rate.creditsPerMinute), 0);
  if (highest === 0) return l10n.t('The cost is unknown: no machine class is chosen.');
  const credits = formatCredits((highest * maxRuntime) / 60);
  return l10n.t('At most {0} credits, on the most expensive machine class; none is chosen.', credits);
}

/** `At most 6 credits of 312.`, or why the cost is unknown. */
export function describeEstimate(estimate: CostEstimate): string {
  if (estimate.type === 'unknown') return estimate.reason;
  const { highest, balance } = estimate;
  const most = formatCredits(highest);
  if (balance === null) return l10n.t('At most {0} credits.', most);
  if (highest > balance) return l10n.t('At most {0} credits, and you have {1}.', most, formatCredits(balance));
  return l10n.t('At most {0} credits of {1}.', most, formatCredits(balance));
}

/** Credits charged or, while the job runs, the approximate cost so far; null if the rate is unknown. `now` is in milliseconds. */
export function costSoFar(record: JobRecord, now: number): number | null {
  if (record.creditsCharged !== null) return record.creditsCharged;
  if (record.startedAt === null || record.creditsPerMinute === null || isOver(record)) return null;
  const minutes = Math.max(0, now - Date.parse(record.startedAt)) / 60_000;
  return Math.min(minutes, record.maxRuntime / 60) * record.creditsPerMinute;
}

/** `about 1.2 of at most 6 credits`: what a running job has cost and may cost; null if the rate is unknown. */
export function describeForecast(record: JobRecord, now: number): string | null {
  const cost = costSoFar(record, now);
  if (cost === null || record.creditsPerMinute === null || record.creditsCharged !== null) return null;
  const highest = (record.creditsPerMinute * record.maxRuntime) / 60;
  return l10n.t('about {0} of at most {1} credits', formatCredits(cost), formatCredits(highest));
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
