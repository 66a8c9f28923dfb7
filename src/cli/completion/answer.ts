import type { Command } from 'commander';
import type { Terminal } from '../terminal/terminal.ts';
import { complete } from './complete.ts';

/** The first argument by which the scripts of `farwharf completion` ask. */
export const COMPLETION_REQUEST = '__complete';

/**
 * Answers a script: a line for each candidate (its value, a tab, what it is), then `:none`, `:files` or `:folders`.
 *
 * @param words the word under the cursor after a `=`, so that it is never empty: shells drop empty arguments; then those before it.
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
