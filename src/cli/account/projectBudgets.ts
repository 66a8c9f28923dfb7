import { farwharfHome } from '../../core/files/home.ts';
import { AppError } from '../../core/errors.ts';
import { formatCredits } from '../../core/text/format.ts';
import { writeBudget } from '../../jobs/ledger/projectBudgets.ts';
import { type BudgetState, budgetStates } from '../../jobs/plan/budgetCheck.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';
import type { Context } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';

/** How jobs without a project are written on the command line. */
const NO_PROJECT = '-';

interface SetFlags {
  readonly soft?: number;
  readonly hard?: number;
}

const limit = (value: number | undefined): string => (value === undefined ? '' : formatCredits(value));
const COLUMNS: readonly RecordColumn<BudgetState>[] = [
  { title: 'PROJECT', cell: ({ project }) => project || NO_PROJECT, minWidth: 7 },
  { title: 'SPENT', cell: ({ spent }) => formatCredits(spent), align: 'right' },
  { title: 'RESERVED', cell: ({ reserved }) => formatCredits(reserved), align: 'right' },
  { title: 'SOFT', cell: ({ budget }) => limit(budget.soft), align: 'right' },
  { title: 'HARD', cell: ({ budget }) => limit(budget.hard), align: 'right' },
];

/** `farwharf budget list`: what each project has used this month on this service. JSON: `{ budgets: [...] }`. */
export async function listBudgets(context: Context): Promise<void> {
  await using session = new Session(context);
  const { terminal } = context;
  const states = await budgetStates(
    { home: session.home, ledger: session.asyncLedger, service: session.sender() },
    session.host,
  );
  const asJson = states.map(({ project, budget: { soft = null, hard = null }, spent, reserved }) => {
    return { project: project === '' ? null : project, spent, reserved, soft, hard };
  });
  if (terminal.json({ budgets: asJson })) return;
  const hint = 'Set one:  farwharf budget set PROJECT --soft CREDITS --hard CREDITS';
  answerTable(terminal, COLUMNS, states, { none: 'No project has a budget.', hint });
}

/** `farwharf budget set PROJECT`. @throws AppError `bad-input` without limits, or for a soft one above the hard one. */
export async function setProjectBudget(
  { env, terminal }: Context,
  name: string,
  { soft, hard }: SetFlags,
): Promise<void> {
  if (soft === undefined && hard === undefined) {
    throw new AppError('bad-input', 'Specify --soft, --hard or both, in credits for each month.');
  }
  if (soft !== undefined && hard !== undefined && soft > hard) {
    throw new AppError('bad-input', 'The soft budget is above the hard one, so it would never warn. Lower it.');
  }
  const project = name === NO_PROJECT ? '' : name;
  await writeBudget(farwharfHome(env), project, {
    ...(soft !== undefined && { soft }),
    ...(hard !== undefined && { hard }),
  });
  if (!terminal.json({ project: project || null, soft: soft ?? null, hard: hard ?? null })) {
    terminal.answer(`The budget of ${name} was set.`);
  }
}

/** `farwharf budget remove PROJECT`. */
export async function removeBudget({ env, terminal }: Context, name: string): Promise<void> {
  const project = name === NO_PROJECT ? '' : name;
  await writeBudget(farwharfHome(env), project, undefined);
  if (!terminal.json({ project: project || null, soft: null, hard: null })) terminal.answer(`${name} has no budget.`);
}
