import * as z from 'zod';
import { printableLine } from '../../core/text/printable.ts';

/** The value of a parameter of a sweep. */
export const parameterValue = z.union([z.string(), z.number(), z.boolean()]);
/** The values that distinguish a job of a sweep from the others, by name. */
export type JobParameters = Readonly<Record<string, z.output<typeof parameterValue>>>;

/** The place of a job in its sweep. */
export const jobSweep = z.object({
  /** The ID of the sweep. */
  id: z.string(),
  /** The name of its profile. */
  name: z.string(),
  /** How many jobs the sweep has, with those that were not sent. */
  count: z.number(),
  /** From 0. */
  index: z.number(),
  parameters: z.record(z.string(), parameterValue),
});

/** `lr=0.1 seed=2`, without control characters. */
export function describeParameters(parameters: JobParameters): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return printableLine(pairs.join(' '));
}

/** The value that a text stands for: a number or a boolean if it is written as one. */
export function parameterOf(text: string): JobParameters[string] {
  if (text === 'true' || text === 'false') return text === 'true';
  return String(Number(text)) === text ? Number(text) : text;
}
