import type { DebugOptions } from '../../remote/protocol/debugging.ts';
import * as l10n from '@vscode/l10n';
import { formatCredits } from '../../core/text/format.ts';
import { describeHours, hoursOf, type MachineShare, type MachineHours } from '../../core/text/machineHours.ts';
import { type Account, receivedAccount, UNPRICED_FEATURE } from '../../remote/protocol/schemas.ts';
import { elapsedSeconds, isOver, isUnpriced, type JobRecord } from '../ledger/record.ts';

const MICRO = 1_000_000;

/** The price of a machine class, or, if its jobs cost no credits, what they have of the machine. 0 is unknown or none. */
export type Price =
  | { readonly creditsPerMinute: number }
  | { readonly creditsPerMinute: null; readonly machine: MachineShare };

export type Rate = Price & {
  readonly machineClass: string | null;
  readonly description: string | null;
};

export type CostEstimate =
  | {
      readonly type: 'known';
      readonly creditsPerMinute: number;
      /** If the job runs to its time limit, and uses all of its hold time. */
      readonly highest: number;
      /** The part of it for the hold time; absent for a job without one. */
      readonly frozen?: number;
      /** Credits left now; null if the account does not state them. */
      readonly balance: number | null;
    }
  | {
      readonly type: 'unpriced';
      readonly creditsPerMinute: null;
      readonly machine: MachineShare;
      /** Seconds. */
      readonly maxRuntime: number;
      /** Whether no machine class is chosen, so that this is the largest one. */
      readonly isLargest: boolean;
      readonly balance: number | null;
    }
  | { readonly type: 'unknown'; readonly reason: string; readonly balance: number | null };

/** The rates in the response of `GET /v1/me`; empty if none is recognized. */
export function readRateCard(account: unknown): Rate[] {
  const { rate_card: card = [], features = [] } = receivedAccount.safeParse(account).data ?? {};
  const isFree = features?.includes(UNPRICED_FEATURE) === true;
  return (card ?? []).flatMap((item) => {
    const price = priceOf(item, isFree);
    return price === undefined
      ? []
      : [{ machineClass: item.machine_class ?? null, ...price, description: item.description ?? null }];
  });
}

/** @param isFree whether a class without a price costs no credits. */
function priceOf(
  { credits_per_minute: creditsPerMinute, cpus, gpus }: NonNullable<Account['rate_card']>[number],
  isFree: boolean,
): Price | undefined {
  if (isAmount(creditsPerMinute)) return { creditsPerMinute };
  if (!isFree || typeof creditsPerMinute === 'number') return undefined;
  return { creditsPerMinute: null, machine: { cpus: isAmount(cpus) ? cpus : 0, gpus: isAmount(gpus) ? gpus : 0 } };
}

/** Whether a service has no credits at all: it lists machine classes, and none has a price. */
export function hasNoCredits(rates: readonly Rate[]): boolean {
  return rates.length > 0 && rates.every(({ creditsPerMinute }) => creditsPerMinute === null);
}

/** Whether credits are more than others. Both are counted in millionths, as services do, because sums such as 0.1 + 0.2 are not exact. */
export function isMoreCredits(credits: number, others: number): boolean {
  return Math.round(credits * MICRO) > Math.round(others * MICRO);
}

/** Credits left, from the response of `GET /v1/me`; null if it does not state them, or no machine class has a price. */
export function readBalance(account: unknown): number | null {
  const credits = receivedAccount.safeParse(account).data?.credits;
  return isAmount(credits) && !hasNoCredits(readRateCard(account)) ? credits : null;
}

/** The rate for a machine class, or without one the rate of the only class; undefined if unknown. */
export function findRate(account: unknown, machineClass: string | undefined): Rate | undefined {
  const card = readRateCard(account);
  if (machineClass === undefined || machineClass === '') return card.length === 1 ? card[0] : undefined;
  return card.find((rate) => rate.machineClass === machineClass);
}

/** The highest cost of a job, or without a price its highest use of the machine: its time limit and its hold time (seconds) at the rates of its machine class. */
export function estimateCost(
  account: unknown,
  job: { machineClass?: string | undefined; maxRuntime: number; debug?: DebugOptions | undefined },
): CostEstimate {
  const balance = readBalance(account);
  const rate = findRate(account, job.machineClass);
  const { machineClass = '', maxRuntime, debug } = job;
  if (rate !== undefined && rate.creditsPerMinute !== null) {
    const { creditsPerMinute } = rate;
    const frozen = ((debug?.hold ?? 0) * frozenPrice(account, rate)) / 60;
    const highest = (creditsPerMinute * maxRuntime) / 60 + frozen;
    return { type: 'known', creditsPerMinute, highest, ...(debug && { frozen }), balance };
  }
  const machine = rate?.machine ?? (machineClass === '' ? largestMachine(readRateCard(account)) : undefined);
  if (machine === undefined) return { type: 'unknown', reason: whyUnknown(account, job), balance };
  return { type: 'unpriced', creditsPerMinute: null, machine, maxRuntime, isLargest: rate === undefined, balance };
}

/** Credits per minute while a job is frozen. */
function frozenPrice(account: unknown, { machineClass, creditsPerMinute }: Rate): number {
  const card = receivedAccount.safeParse(account).data?.rate_card ?? [];
  const price = card.find((item) => item.machine_class === machineClass)?.frozen_credits_per_minute;
  return isAmount(price) ? price : (creditsPerMinute ?? 0);
}

/** The most cores and GPUs of any machine class; undefined if one has a price. */
function largestMachine(rates: readonly Rate[]): MachineShare | undefined {
  if (!hasNoCredits(rates)) return undefined;
  const machines = rates.flatMap((rate) => (rate.creditsPerMinute === null ? rate.machine : []));
  return {
    cpus: Math.max(...machines.map(({ cpus }) => cpus)),
    gpus: Math.max(...machines.map(({ gpus }) => gpus)),
  };
}

/** The most credits that a job can cost; undefined if that is unknown. */
export function highestCredits(estimate: CostEstimate): number | undefined {
  if (estimate.type === 'unknown') return undefined;
  return estimate.type === 'known' ? estimate.highest : 0;
}

/** What the record of a job says of its price. */
export function recordedPrice(
  estimate: CostEstimate,
): Partial<Pick<JobRecord, 'creditsPerMinute' | 'unpricedCpus' | 'unpricedGpus'>> {
  if (estimate.type === 'known') return { creditsPerMinute: estimate.creditsPerMinute };
  if (estimate.type === 'unknown') return {};
  return { unpricedCpus: estimate.machine.cpus, unpricedGpus: estimate.machine.gpus };
}

function whyUnknown(account: unknown, { machineClass = '', maxRuntime }: Parameters<typeof estimateCost>[1]): string {
  if (machineClass !== '') return l10n.t('No price is listed for {0}.', machineClass);
  const highest = readRateCard(account).reduce((most, rate) => Math.max(most, rate.creditsPerMinute ?? 0), 0);
  if (highest === 0) return l10n.t('The cost is unknown: no machine class is chosen.');
  const credits = formatCredits((highest * maxRuntime) / 60);
  return l10n.t('At most {0} credits, on the most expensive machine class; none is chosen.', credits);
}

/** `At most 6 credits of 312.`, `Up to 4 core-hours, 1 GPU-hour.`, or why the cost is unknown. */
export function describeEstimate(estimate: CostEstimate): string {
  if (estimate.type === 'unknown') return estimate.reason;
  if (estimate.type === 'unpriced') return describeUnpriced(estimate);
  const { highest, balance } = estimate;
  const most = formatCredits(highest);
  if (balance === null) return l10n.t('At most {0} credits.', most);
  if (highest > balance) return l10n.t('At most {0} credits, and you have {1}.', most, formatCredits(balance));
  return l10n.t('At most {0} credits of {1}.', most, formatCredits(balance));
}

function describeUnpriced({ machine, maxRuntime, isLargest }: Extract<CostEstimate, { type: 'unpriced' }>): string {
  const hours = describeHours(hoursOf(machine, maxRuntime));
  if (hours === '') return l10n.t('It costs no credits.');
  return isLargest
    ? l10n.t('Up to {0}, on the largest machine class; none is chosen.', hours)
    : l10n.t('Up to {0}.', hours);
}

/** `at most 6 credits` or `up to 4 core-hours` for so many seconds; empty if the machine is unknown. */
export function describeMost(price: Price, seconds: number): string {
  if (price.creditsPerMinute !== null)
    return l10n.t('at most {0} credits', formatCredits((price.creditsPerMinute * seconds) / 60));
  const hours = describeHours(hoursOf(price.machine, seconds));
  return hours === '' ? '' : l10n.t('up to {0}', hours);
}

/**
 * Credits charged or, while the job runs, the approximate cost so far; null if the rate is unknown or the machine class has no price.
 * `now` is in milliseconds.
 */
export function costSoFar(record: JobRecord, now: number): number | null {
  if (isUnpriced(record)) return null;
  if (record.creditsCharged !== null) return record.creditsCharged;
  if (record.creditsPerMinute === null || isOver(record)) return null;
  const seconds = elapsedSeconds(record, now);
  return seconds === null ? null : (Math.min(seconds, record.maxRuntime) / 60) * record.creditsPerMinute;
}

/** What a job has of its machine, if its class has no price. */
function machineOf(record: JobRecord): MachineShare | undefined {
  return isUnpriced(record) ? { cpus: record.unpricedCpus, gpus: record.unpricedGpus ?? 0 } : undefined;
}

/** What a job on a machine class without a price has used until `now`, in milliseconds; undefined before it starts, and with a price. */
export function usedHours(record: JobRecord, now: number): MachineHours | undefined {
  const [machine, seconds] = [machineOf(record), elapsedSeconds(record, now)];
  return machine === undefined || seconds === null ? undefined : hoursOf(machine, seconds);
}

/** `4 core-hours, 1 GPU-hour`, or null if `usedHours` has nothing to describe. */
export function describeUsed(record: JobRecord, now: number): string | null {
  const hours = usedHours(record, now);
  return hours === undefined ? null : describeHours(hours) || null;
}

/**
 * `about 1.2 of at most 6 credits`, or without a price `2 core-hours so far, up to 4 core-hours`: what a running job has cost and may
 * cost; null if the rate is unknown.
 */
export function describeForecast(record: JobRecord, now: number): string | null {
  const machine = machineOf(record);
  if (machine !== undefined) {
    const used = describeUsed(record, now);
    const most = describeMost({ creditsPerMinute: null, machine }, record.maxRuntime);
    return used === null || most === '' ? null : l10n.t('{0} so far, {1}', used, most);
  }
  const cost = costSoFar(record, now);
  if (cost === null || record.creditsPerMinute === null || record.creditsCharged !== null) return null;
  const highest = (record.creditsPerMinute * record.maxRuntime) / 60;
  return l10n.t('about {0} of at most {1} credits', formatCredits(cost), formatCredits(highest));
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
