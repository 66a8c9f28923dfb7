import { formatCredits } from '../../../core/text/format.ts';
import { type Budget, readBudgets, writeBudget } from '../../../jobs/ledger/budgets.ts';
import { currentPeriods } from '../../../jobs/ledger/spending.ts';
import { readCredits } from '../../../jobs/ledger/budgetInput.ts';
import type { Services } from '../../services/services.ts';
import { label } from '../../ui/labels.ts';
import { pickOne } from '../../ui/picks.ts';
import { askText, showInformation } from '../../ui/show.ts';
import type { Command } from '../command.ts';

const TITLE = 'Set the budget of a project for each month';

/** Asks for a project and its budget. Empty limits remove the budget. */
export const setBudget: Command = async ({ services }) => {
  const project = await pickProject(services);
  if (project === undefined) return;
  const name = project === '' ? 'jobs without a project' : `project ${project}`;
  const before = (await readBudgets(services.home))[project];
  const soft = await askLimit(`Warn before a submit by ${name} above`, before?.soft, undefined);
  if (soft === undefined) return;
  const hard = await askLimit(`Send nothing by ${name} above`, before?.hard, soft);
  if (hard === undefined) return;
  const budget: Budget = { ...(soft !== null && { soft }), ...(hard !== null && { hard }) };
  const isRemoved = soft === null && hard === null;
  await writeBudget(services.home, project, isRemoved ? undefined : budget);
  services.budgetsChanged.fire();
  void showInformation(isRemoved ? `No budget limits ${name} now.` : `The budget of ${name} was set.`);
};

/** The empty name is that of jobs without a project. */
async function pickProject({ hosts, home, ledger, store }: Services): Promise<string | undefined> {
  const [budgets, spending] = [
    await readBudgets(home),
    await ledger.spending(hosts.current(), currentPeriods(Date.now())),
  ];
  const names = [
    ...Object.keys(budgets),
    ...spending.map(({ project }) => project ?? ''),
    ...store.records.map(({ project }) => project ?? ''),
  ];
  const row = (project: string) => {
    const spent = spending.find((each) => (each.project ?? '') === project)?.thisMonth ?? 0;
    return {
      label: project === '' ? label`No project` : label`${project}`,
      description: label`${formatCredits(spent)} credits spent this month${describeLimits(budgets[project])}`,
      project,
    };
  };
  const items = [...new Set([...names.toSorted(), ''])].map(row);
  const placeholder = 'Choose or type a project';
  const chosen = await pickOne({ title: TITLE, placeholder, items, typed: (text) => row(text) });
  return chosen === 'back' ? undefined : chosen?.project;
}

function describeLimits(budget: Budget | undefined): string {
  const parts = [
    budget?.soft === undefined ? '' : ` · warns above ${formatCredits(budget.soft)}`,
    budget?.hard === undefined ? '' : ` · sends nothing above ${formatCredits(budget.hard)}`,
  ];
  return parts.join('');
}

/** Credits, null for no limit, undefined if the user cancelled. */
async function askLimit(
  prompt: string,
  before: number | undefined,
  least: number | null | undefined,
): Promise<number | null | undefined> {
  const text = await askText({
    title: TITLE,
    prompt: `${prompt} this many credits. Leave it empty for no limit.`,
    value: before === undefined ? '' : String(before),
    ignoreFocusOut: true,
    validateInput: (typed) => {
      const read = readCredits(typed, least ?? 0);
      return read.ok ? undefined : read.reason;
    },
  });
  if (text === undefined) return undefined;
  const read = readCredits(text, least ?? 0);
  return read.ok ? read.credits : undefined;
}
