import { join } from 'node:path';
import * as z from 'zod';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { makeFolder } from '../../core/files/makeFolder.ts';
import { isRegularFile, readBounded } from '../../workspace/files/boundedRead.ts';
import { decimalMark } from '../../core/text/format.ts';

const FILE = 'budgets.json';
const MAX_BYTES = 1_000_000;

const budget = z.object({
  /** Above it, a warning is shown before a submit. */
  soft: z.number().nonnegative().optional(),
  /** A job that could exceed it is not sent. */
  hard: z.number().nonnegative().optional(),
});
/** Credits that the jobs of a project may cost in a month on each service. */
export type ProjectBudget = Readonly<z.output<typeof budget>>;
const budgets = z.record(z.string(), budget);

/**
 * The budgets of this user, by project; the empty name is that of jobs without a project. Folders cannot write the file.
 *
 * @throws AppError `corrupt` for a damaged file, because a budget must not be ignored unnoticed.
 */
export async function readBudgets(home: string): Promise<Readonly<Record<string, ProjectBudget>>> {
  const path = join(home, FILE);
  const bytes = await readBounded(path, MAX_BYTES);
  if (bytes === undefined && !(await isRegularFile(path, Number.MAX_SAFE_INTEGER))) return {};
  try {
    return budgets.parse(JSON.parse(String(bytes)));
  } catch (error) {
    throw new AppError('corrupt', `Your budgets cannot be read, so nothing was sent. Correct or remove ${path}.`, {
      cause: error,
    });
  }
}

/** Sets the budget of a project, or removes it if none is given. */
export async function writeBudget(home: string, project: string, changed: ProjectBudget | undefined): Promise<void> {
  const others = Object.entries(await readBudgets(home)).filter(([name]) => name !== project);
  makeFolder(home);
  const all = Object.fromEntries([...others, ...(changed === undefined ? [] : [[project, changed] as const])]);
  await writeAtomically(join(home, FILE), JSON.stringify(all, null, 2), { isDurable: true });
}

/** Credits as a person types them, with the decimal mark of their language; null for empty text. @param least the lowest amount that makes sense. */
export function readCredits(
  text: string,
  least: number,
): { readonly ok: true; readonly credits: number | null } | { readonly ok: false; readonly reason: string } {
  const typed = text.trim();
  if (typed === '') return { ok: true, credits: null };
  // The other mark is refused: it separates thousands, and 1.000 must not become a budget of 1.
  const [whole = '', decimals, ...more] = typed.split(decimalMark());
  const isNumber = /^\d{1,12}$/.test(whole) && /^\d{1,6}$/.test(decimals ?? '0') && more.length === 0;
  if (!isNumber) return { ok: false, reason: l10n.t('Enter an amount of credits, such as {0}.', typedCredits(12.5)) };
  const credits = Number(`${whole}.${decimals ?? 0}`);
  if (credits >= least) return { ok: true, credits };
  return {
    ok: false,
    reason: l10n.t('Enter at least {0}, the amount that triggers the warning.', typedCredits(least)),
  };
}

/** Credits as `readCredits` reads them. */
export function typedCredits(credits: number): string {
  return String(credits).replace('.', decimalMark());
}
