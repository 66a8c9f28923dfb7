import * as l10n from '@vscode/l10n';
import { formatCredits, formatDuration, formatNumber } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type Account, type RateCardItem, receivedAccount } from '../../remote/protocol/schemas.ts';
import { elapsedSeconds, hasSucceeded, isOver, type JobRecord } from '../ledger/record.ts';
import type { Series } from '../metrics/series.ts';
import type { UsageSeries } from '../metrics/usageSeries.ts';

// The next run may need a little more than this one.
const MEMORY_HEADROOM = 1.2;
const CORE_HEADROOM = 1.05;
const MIN_SAVING = 0.1;
// A job that waits for its data most of the time uses more of its GPU.
const IDLE_GPU = 0.05;
// Less of a core is lost to other programs on any machine.
const MIN_STARVED_CORES = 0.1;
// The unit of `memory_gb` in a rate card.
const GIGABYTE = 2 ** 30;

/** How much of its machine class an ended job used, and which class would have been enough. */
export interface Advice {
  readonly sentence: string;
  /** The cheapest class that would have been enough, if it saves a tenth or more, with its credits. */
  readonly cheaper: { readonly machineClass: string; readonly credits: number } | null;
}

/**
 * Advice after a job, from what was measured and the rate card; undefined while it runs or if nothing is known. A class is recommended
 * only for a job that succeeded and had the cores that it could have used, and only if the service states the cores and the memory of both
 * classes.
 *
 * @param account the response of `GET /v1/me`.
 */
export function adviseOn(record: JobRecord, usage: UsageSeries, account: unknown): Advice | undefined {
  const seconds = elapsedSeconds(record, Date.parse(record.finishedAt ?? ''));
  if (!isOver(record) || seconds === null) return undefined;
  const card: NonNullable<Account['rate_card']> = receivedAccount.safeParse(account).data?.rate_card ?? [];
  const item = card.find(({ machine_class: name }) => name === record.machineClass);
  const starved = starvedCores(usage, item?.cpus);
  const cheaper =
    item && hasSucceeded(record) && starved === undefined ? cheaperClass(item, card, usage, seconds) : undefined;
  // The charge may be rounded, so scaling it is more accurate than multiplying the time by the new rate.
  const charged = record.creditsCharged ?? (seconds / 60) * (item?.credits_per_minute ?? 0);
  const idleGpus = describeIdleGpus(usage, item?.gpus);
  const used = [l10n.t('Used {0}.', describeUsed(record, usage, item, seconds)), ...idleGpus].join(' ');
  if (starved !== undefined) {
    const sentence = l10n.t(
      'Other programs of the machine kept it from using {0} more cores on average, so it was slower than it could be.',
      shown(starved),
    );
    return { sentence: `${used} ${sentence}`, cheaper: null };
  }
  if (cheaper === undefined) return { sentence: used, cheaper: null };
  const { machineClass, part } = cheaper;
  const credits = charged * part;
  const saving = l10n.t(
    'The class {0} would have cost {1} instead of {2} credits.',
    printableLine(machineClass),
    formatCredits(credits),
    formatCredits(charged),
  );
  return { sentence: `${used} ${saving}`, cheaper: { machineClass, credits } };
}

/**
 * How many cores others took from the job on average: those for which its threads waited, but not more than it left unused of its class;
 * undefined if it had what it could use. Threads that wait while the job uses all of its cores are too many for the class.
 */
function starvedCores(usage: UsageSeries, cpus: number | null | undefined): number | undefined {
  const [used, waiting] = [meanOf(usage.get('cpu_cores')), meanOf(usage.get('cpu_waiting'))];
  if (used === undefined || waiting === undefined || typeof cpus !== 'number') return undefined;
  const starved = Math.min(waiting, cpus - used);
  return starved >= Math.max(MIN_STARVED_CORES, MIN_SAVING * used) ? starved : undefined;
}

/** That the job hardly used what only it could use. */
function describeIdleGpus(usage: UsageSeries, gpus: number | null | undefined): readonly string[] {
  const used = meanOf(usage.get('gpus'));
  if (used === undefined || typeof gpus !== 'number' || gpus < 1 || used / gpus >= IDLE_GPU) return [];
  const percent = formatNumber(Math.round((100 * used) / gpus));
  if (gpus === 1) return [l10n.t('Your job used {0} % of its GPU.', percent)];
  return [l10n.t('Your job used {0} % of its {1} GPUs.', percent, formatNumber(gpus))];
}

/** The mean over time, each value counting for the time since the one before it; undefined without values. */
function meanOf(series: Series | undefined): number | undefined {
  const [first, ...rest] = series?.points ?? [];
  if (first === undefined) return undefined;
  let [sum, time, before] = [0, 0, first[0]];
  for (const [at, value] of rest) {
    sum += value * (at - before);
    time += at - before;
    before = at;
  }
  return time > 0 ? sum / time : first[1];
}

/** The cheapest class with at least what the job used, and its price as a fraction of the price of the job's class. */
function cheaperClass(
  item: RateCardItem,
  card: readonly RateCardItem[],
  usage: UsageSeries,
  seconds: number,
): { readonly machineClass: string; readonly part: number } | undefined {
  const memory = usage.get('memory_bytes')?.max;
  const cores = usage.get('cpu_cores')?.max;
  const price = item.credits_per_minute ?? 0;
  if (memory === undefined || cores === undefined || price <= 0 || seconds === 0) return undefined;
  const areGpusIdle = usage.get('gpus')?.max === 0 && usage.get('gpu_memory_bytes')?.max === 0;
  const needed = {
    memory: (memory * MEMORY_HEADROOM) / GIGABYTE,
    // A job that used all cores of its class would have been slower with fewer.
    cpus: Math.min(item.cpus ?? Number.POSITIVE_INFINITY, cores * CORE_HEADROOM),
    gpus: areGpusIdle ? 0 : (item.gpus ?? 0),
  };
  const [best] = card
    .flatMap(({ machine_class: machineClass, credits_per_minute: rate, memory_gb: gigabytes, cpus, gpus }) => {
      const isEnough =
        (gigabytes ?? 0) >= needed.memory && (cpus ?? 0) >= needed.cpus && (gpus ?? 0) >= needed.gpus && machineClass;
      return isEnough && typeof rate === 'number' && rate >= 0 ? [{ machineClass, part: rate / price }] : [];
    })
    .toSorted((a, b) => a.part - b.part);
  return best !== undefined && best.part <= 1 - MIN_SAVING ? best : undefined;
}

/** `2.1 of 16 GB, 1.5 of 8 cores and 11 min of 1 h`; what is unknown is left out. */
function describeUsed(
  { maxRuntime }: JobRecord,
  usage: UsageSeries,
  item: RateCardItem | undefined,
  seconds: number,
): string {
  const memory = usage.get('memory_bytes')?.max;
  const cores = usage.get('cpu_cores')?.max;
  const parts = [
    memory === undefined ? undefined : `${part(memory / GIGABYTE, item?.memory_gb)} GB`,
    cores === undefined ? undefined : coresText(cores, item?.cpus),
    maxRuntime > 0 ? partOf(formatDuration(seconds), formatDuration(maxRuntime)) : formatDuration(seconds),
  ].filter((each) => each !== undefined);
  return new Intl.ListFormat(l10n.t('en-GB')).format(parts);
}

/** `2.1 of 16`. */
function part(used: number, all: number | null | undefined): string {
  return typeof all === 'number' ? partOf(shown(used), formatNumber(all)) : shown(used);
}

function partOf(used: string, all: string): string {
  return l10n.t('{0} of {1}', used, all);
}

function coresText(used: number, all: number | null | undefined): string {
  const text = shown(used);
  if (typeof all === 'number') return l10n.t('{0} of {1} cores', text, formatNumber(all));
  return text === '1' ? l10n.t('1 core') : l10n.t('{0} cores', text);
}

function shown(used: number): string {
  return formatNumber(Number(used.toPrecision(2)));
}
