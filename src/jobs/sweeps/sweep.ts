import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { isUnpriced, type JobRecord, storedRecord } from '../ledger/record.ts';

/** Several jobs of one profile that differ in their parameters. */
export const storedSweep = z.object({
  id: z.uuid(),
  /** The name of the profile. */
  name: z.string(),
  host: z.string(),
  /** Absolute path of the folder that was sent. */
  folder: z.string(),
  createdAt: z.string(),
  /** How many jobs may be unfinished at the same time; null for no limit. */
  concurrency: z.number().nullable(),
  /** The most credits that the jobs may cost together; null for no limit. */
  maxCost: z.number().nullable(),
  /** Whether the service takes submissions by content. */
  usesContents: z.boolean().default(false),
  /** Whether the user cancelled the sweep, so that no more of its jobs are sent. */
  isCancelled: z.boolean(),
  /** The jobs as they are sent. The ID of each is its idempotency key, so that it can be sent again without being doubled. */
  drafts: z.array(storedRecord),
});
export type Sweep = Readonly<z.output<typeof storedSweep>>;

/** The most that a job can cost, which is 0 without a price; undefined if its price is unknown. */
export function highestCost(record: JobRecord): number | undefined {
  const { creditsPerMinute, maxRuntime } = record;
  if (isUnpriced(record)) return 0;
  return creditsPerMinute === null ? undefined : (creditsPerMinute * maxRuntime) / 60;
}

/** The most that all jobs of a sweep can cost; undefined if a price is unknown. */
export function highestSweepCost({ drafts }: Pick<Sweep, 'drafts'>): number | undefined {
  const costs = drafts.map(highestCost).filter((cost) => cost !== undefined);
  return costs.length < drafts.length ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
}

/**
 * Checks that the cost limit of a sweep can be kept and is not below one of its jobs.
 *
 * @throws AppError `bad-input` otherwise.
 */
export function checkCostLimit({ name, drafts, maxCost }: Pick<Sweep, 'name' | 'drafts' | 'maxCost'>): void {
  if (maxCost === null) return;
  for (const draft of drafts) {
    const cost = highestCost(draft);
    if (cost === undefined) {
      const why = `No price is listed for the machine class of ${name}, so its cost limit cannot be enforced. Nothing was sent.`;
      throw new AppError(
        'bad-input',
        printableLine(`${why} Remove the limit, or choose a machine class with a price.`),
      );
    }
    if (cost > maxCost) {
      const sentence = `One job of ${name} can cost ${formatCredits(cost)} credits, more than the limit of ${formatCredits(maxCost)} for all of them.`;
      throw new AppError(
        'bad-input',
        printableLine(`${sentence} Nothing was sent. Raise the limit, or set a shorter "maxRuntime".`),
      );
    }
  }
}
