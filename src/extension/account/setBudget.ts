import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { formatCredits } from '../../core/text/format.ts';
import {
  type ProjectBudget,
  readBudgets,
  readCredits,
  typedCredits,
  writeBudget,
} from '../../jobs/ledger/projectBudgets.ts';
import { currentPeriods } from '../../jobs/ledger/spending.ts';
import type { Emitter } from '../../core/processes/lifetime.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { label } from '../ui/labels.ts';
import { pickOne } from '../ui/picks.ts';
import { askText, showInformation } from '../ui/show.ts';
import type { Hosts } from './hosts.ts';

const TITLE = l10n.t('Set the budget of a project for each month');

export interface BudgetDeps extends Pick<WindowParts, 'home'> {
  readonly budgetsChanged: Emitter<void>;
  readonly hosts: Pick<Hosts, 'current'>;
  readonly ledger: Pick<AsyncLedger, 'spending'>;
  readonly store: { readonly records: readonly JobRecord[] };
}

/** Asks for a project and its budget. Empty limits remove the budget. */
export async function setBudget(deps: BudgetDeps): Promise<void> {
  const project = await pickProject(deps);
  if (project === undefined) return;
  const isNamed = project !== '';
  const before = (await readBudgets(deps.home))[project];
  const soft = await askLimit(
    isNamed
      ? l10n.t('Warn before submitting for project {0} above this many credits.', project)
      : l10n.t('Warn before submitting without a project above this many credits.'),
    before?.soft,
    undefined,
  );
  if (soft === undefined) return;
  const hard = await askLimit(
    isNamed
      ? l10n.t('Block submits for project {0} above this many credits.', project)
      : l10n.t('Block submits without a project above this many credits.'),
    before?.hard,
    soft,
  );
  if (hard === undefined) return;
  const budget: ProjectBudget = { ...(soft !== null && { soft }), ...(hard !== null && { hard }) };
  const isRemoved = soft === null && hard === null;
  await writeBudget(deps.home, project, isRemoved ? undefined : budget);
  deps.budgetsChanged.fire();
  void showInformation(
    isNamed
      ? isRemoved
        ? l10n.t('Project {0} has no budget now.', project)
        : l10n.t('The budget of project {0} was set.', project)
      : isRemoved
        ? l10n.t('Jobs without a project have no budget now.')
        : l10n.t('The budget of jobs without a project was set.'),
  );
}

/** The empty name is that of jobs without a project. */
async function pickProject({ hosts, home, ledger, store }: BudgetDeps): Promise<string | undefined> {
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
      label: project === '' ? label`${l10n.t('No project')}` : label`${project}`,
      description: label`${[l10n.t('{0} credits spent this month', formatCredits(spent)), ...describeLimits(budgets[project])].join(' · ')}`,
      project,
    };
  };
  const items = [...new Set([...names.toSorted(), ''])].map(row);
  const placeholder = l10n.t('Choose or type a project');
  const chosen = await pickOne({ title: TITLE, placeholder, items, typed: (text) => row(text) });
  return chosen === 'back' ? undefined : chosen?.project;
}

function describeLimits(budget: ProjectBudget | undefined): readonly string[] {
  return [
    ...(budget?.soft === undefined ? [] : [l10n.t('warns above {0}', formatCredits(budget.soft))]),
    ...(budget?.hard === undefined ? [] : [l10n.t('blocks above {0}', formatCredits(budget.hard))]),
  ];
}

/** Credits, null for no limit, undefined if the user cancelled. */
async function askLimit(
  prompt: string,
  before: number | undefined,
  least: number | null | undefined,
): Promise<number | null | undefined> {
  const text = await askText({
    title: TITLE,
    prompt: `${prompt} ${l10n.t('Leave it empty for no limit.')}`,
    value: before === undefined ? '' : typedCredits(before),
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
