import { createInterface } from 'node:readline/promises';
import { printable } from '../../core/text/printable.ts';
import type { Context } from './commandContext.ts';

/** Asks a yes-or-no question at the terminal. False without a terminal, and for any other answer than yes. @throws the signal's reason on abort. */
export async function confirm(question: string, { terminal, stdin, signal }: Context): Promise<boolean> {
  const input = stdin();
  if (!input.isTTY || !terminal.isScreen('stderr') || terminal.isJson) return false;
  terminal.clearStatus();
  const prompt = createInterface({ input, output: process.stderr });
  try {
    const answer = await prompt.question(printable`${question} [y/N] `, { signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}
