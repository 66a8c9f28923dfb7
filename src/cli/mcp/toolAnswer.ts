import * as z from 'zod';
import { AppError } from '../../core/errors.ts';

/** What a tool returns: a text for the model, and the same as data for programs. */
export interface ToolAnswer {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const record = z.record(z.string(), z.unknown());

/** The last JSON object that a verb printed. @throws AppError `corrupt` if it printed none. */
export function lastObject(values: readonly unknown[]): Readonly<Record<string, unknown>> {
  const last = record.safeParse(values.at(-1));
  if (last.success) return last.data;
  throw new AppError('corrupt', 'The command printed no result.');
}

/** The first items of a list in data, and how many there are. */
export function firstItems(
  list: unknown,
  limit: number,
): { readonly count: number; readonly first: readonly unknown[] } {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  return { count: items.length, first: items.slice(0, limit) };
}

/** Data as text for models that read no structured content. */
export function asText(heading: string, data: unknown): string {
  return `${heading}\n${JSON.stringify(data, undefined, 1)}`;
}
