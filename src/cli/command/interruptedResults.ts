import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { printable } from '../../core/text/printable.ts';
import type { Context } from './context.ts';

/** Undoes downloads that were interrupted while an earlier command or window wrote their results, and reports them. */
export async function recoverInterrupted({ env, terminal }: Pick<Context, 'env' | 'terminal'>): Promise<void> {
  const home = farwharfHome(env);
  if (!existsSync(join(home, 'results'))) return; // nothing was ever downloaded; avoids loading code
  const { describeRecovered, ResultJournals } = await import('../../jobs/results/resultJournals.ts');
  try {
    for (const recovered of await new ResultJournals(home).recover()) {
      terminal.note(describeRecovered(recovered));
    }
  } catch (error) {
    terminal.note(printable`An interrupted download could not be undone: ${messageOf(error)}`);
  }
}
