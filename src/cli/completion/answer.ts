import type { Command } from 'commander';
import type { Terminal } from '../terminal/terminal.ts';
import { complete } from './complete.ts';

/** The first argument of a request by a completion script. */
export const COMPLETION_REQUEST = '__complete';

/**
 * Prints a line for each candidate (value, tab, description), then `:none`, `:files` or `:folders`.
 *
 * @param words `=` with the word under the cursor, because shells drop empty arguments, then the words before it.
 */
export async function answerCompletion(
  program: Command,
  [current = '=', ...before]: readonly string[],
  { terminal, env }: { readonly terminal: Terminal; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const { candidates, paths } = await complete(program, before, current.slice(1), async (remote) => {
    const { recentJobs } = await import('./recentJobs.ts');
    return recentJobs(remote, env);
  });
  for (const { value, description } of candidates) terminal.answer(`${value}\t${description}`);
  terminal.answer(`:${paths}`);
}
