import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import type { Context } from '../command/commandContext.ts';
import { Terminal } from '../terminal/terminal.ts';

const MAX_LINES = 5_000;
const MAX_CHARACTERS = 2_000_000;

/** What a tool returns: a text for the model, and the same as data for programs. */
export interface ToolAnswer {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const record = z.record(z.string(), z.unknown());

/** A context whose terminal collects what a verb prints. */
export interface Captured {
  readonly context: Context;
  /** The JSON values that were printed; the last ones if there are very many. */
  values(): readonly unknown[];
}

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

/** Runs verbs for another program: their JSON is collected, and their notes for people are dropped. */
export function captured(context: Context, signal: AbortSignal): Captured {
  const lines: string[] = [];
  let characters = 0;
  let rest = '';
  const stdout = {
    write(text: string, done?: () => void): void {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        lines.push(part);
        characters += part.length;
      }
      while (lines.length > 1 && (lines.length > MAX_LINES || characters > MAX_CHARACTERS)) {
        characters -= lines.shift()?.length ?? 0;
      }
      done?.();
    },
  };
  const stderr = { write: (_text: string, done?: () => void): void => done?.() };
  return {
    context: { ...context, terminal: new Terminal({ isJson: true, stdout, stderr }), signal, outputSignal: signal },
    values: () => lines.map((line): unknown => JSON.parse(line)),
  };
}
