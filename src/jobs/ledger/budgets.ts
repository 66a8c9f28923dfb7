import { join } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { makeFolder } from '../../core/files/makeFolder.ts';
import { isRegularFile, readBounded } from '../../workspace/files/boundedRead.ts';

const FILE = 'budgets.json';
const MAX_BYTES = 1_000_000;

const budget = z.object({
  /** Above it, a warning is shown before a submit. */
  soft: z.number().nonnegative().optional(),
  /** A job that could exceed it is not sent. */
  hard: z.number().nonnegative().optional(),
});
/** Credits that the jobs of a project may cost in a month on each service. */
export type Budget = Readonly<z.output<typeof budget>>;
const budgets = z.record(z.string(), budget);

/**
 * The budgets of this user, by project; the empty name is that of jobs without a project. Folders cannot write the file.
 *
 * @throws AppError `corrupt` for a damaged file, because a budget must not be ignored unnoticed.
 */
export async function readBudgets(home: string): Promise<Readonly<Record<string, Budget>>> {
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
export async function writeBudget(home: string, project: string, changed: Budget | undefined): Promise<void> {
  const others = Object.entries(await readBudgets(home)).filter(([name]) => name !== project);
  makeFolder(home);
  const all = Object.fromEntries([...others, ...(changed === undefined ? [] : [[project, changed] as const])]);
  await writeAtomically(join(home, FILE), JSON.stringify(all, null, 2), { isDurable: true });
}
