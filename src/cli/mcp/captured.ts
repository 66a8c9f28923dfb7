import type { Context } from '../command/context.ts';
import { Terminal } from '../terminal/terminal.ts';

const MAX_LINES = 5_000;
const MAX_CHARACTERS = 2_000_000;

/** A context whose terminal collects what a verb prints. */
export interface Captured {
  readonly context: Context;
  /** The JSON values that were printed; the last ones if there are very many. */
  values(): readonly unknown[];
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
