import { fieldOf } from '../../core/jsonFields.ts';
import { formatCredits } from '../../core/text/format.ts';
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
      /** Credits left now; null where the account does not tell. */
      readonly balance: number | null;
    }
  | { readonly type: 'unknown'; readonly reason: string; readonly balance: number | null };

// The specification leaves the shape of the account open, so the likely spellings are all read.
const NAME_FIELDS = ['machine_class', 'machineClass', 'name', 'class', 'id'];
const RATE_FIELDS = [
  ['credits_per_second', 60],
  ['credits_per_minute', 1],
  ['credits_per_hour', 1 / 60],
] as const;

/** The rate card of a `/v1/me` reply, a list or an object by machine class; empty when none is recognised. */
export function readRateCard(account: unknown): Rate[] {
  const card = fieldOf(account, 'rate_card') ?? fieldOf(account, 'rates');
  if (Array.isArray(card)) return card.flatMap((item: unknown) => readRate(item, nameOf(item)));
  if (typeof card !== 'object' || card === null) return [];
  return Object.entries(card).flatMap(([name, item]) => readRate(item, name));
}

/** Credits left, from a `/v1/me` reply; null when it does not tell. */
export function readBalance(account: unknown): number | null {
  return amountOf(account, 'credits') ?? amountOf(account, 'credits_remaining') ?? amountOf(account, 'balance') ?? null;
}

/** The rate for a machine class, or for a job without one where the service has only one class; undefined when unknown. */
function findRate(account: unknown, machineClass: string | undefined): Rate | undefined {
  const card = readRateCard(account);
  if (machineClass === undefined || machineClass === '') return card.length === 1 ? card[0] : undefined;
  return card.find((rate) => rate.machineClass === machineClass);
}

/** The highest cost of a job: its time limit (seconds) at the rate of its machine class. */
export function estimateCost(account: unknown, job: { machineClass?: string; maxRuntime: number }): CostEstimate {
  const balance = readBalance(account);
  const rate = findRate(account, job.machineClass);
  if (rate === undefined) {
    const reason =
      job.machineClass === undefined || job.machineClass === ''
        ? 'The cost is unknown: no machine class is chosen.'
        : `No price is listed for ${job.machineClass}.`;
    return { type: 'unknown', reason, balance };
  }
  const { creditsPerMinute } = rate;
  return { type: 'known', creditsPerMinute, highest: (creditsPerMinute * job.maxRuntime) / 60, balance };
}

/** `At most 6 credits of 312.`, or why that is not known. */
export function describeEstimate(estimate: CostEstimate): string {
  if (estimate.type === 'unknown') return estimate.reason;
  const { highest, balance } = estimate;
  const most = `At most ${formatCredits(highest)} credits`;
  if (balance === null) return `${most}.`;
  if (highest > balance) return `${most}, and you have ${formatCredits(balance)}.`;
  return `${most} of ${formatCredits(balance)}.`;
}

/** Credits charged, or, while it runs, about what it has cost so far; null where the rate is unknown. `now` in milliseconds. */
export function costSoFar(record: JobRecord, now: number): number | null {
  if (record.creditsCharged !== null) return record.creditsCharged;
  if (record.startedAt === null || record.creditsPerMinute === null || isOver(record)) return null;
  const minutes = Math.max(0, now - Date.parse(record.startedAt)) / 60_000;
  return Math.min(minutes, record.maxRuntime / 60) * record.creditsPerMinute;
}

/** `about 1.2 of at most 6 credits`: what a running job has cost and may cost; null where the rate is unknown. */
export function describeForecast(record: JobRecord, now: number): string | null {
  const cost = costSoFar(record, now);
  if (cost === null || record.creditsPerMinute === null || record.creditsCharged !== null) return null;
  const highest = (record.creditsPerMinute * record.maxRuntime) / 60;
  return `about ${formatCredits(cost)} of at most ${formatCredits(highest)} credits`;
}

function readRate(item: unknown, name: string | null): Rate[] {
  if (typeof item === 'number')
    return isAmount(item) ? [{ machineClass: name, creditsPerMinute: item, description: null }] : [];
  for (const [field, perMinute] of RATE_FIELDS) {
    const amount = amountOf(item, field);
    if (amount === undefined) continue;
    const description = fieldOf(item, 'description');
    return [
      {
        machineClass: name,
        creditsPerMinute: amount * perMinute,
        description: typeof description === 'string' ? description : null,
      },
    ];
  }
  return [];
}

function nameOf(item: unknown): string | null {
  return NAME_FIELDS.map((field) => fieldOf(item, field)).find((name) => typeof name === 'string') ?? null;
}

function amountOf(data: unknown, name: string): number | undefined {
  const value = fieldOf(data, name);
  return isAmount(value) ? value : undefined;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
