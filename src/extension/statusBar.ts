import * as vscode from 'vscode';
import type { WindowParts } from './contributions/parts.ts';
import { DisposableStore } from '../core/processes/lifetime.ts';
import { hasLedger } from '../jobs/ledger/changeMark.ts';
import { currentPeriods, type ProjectSpending } from '../jobs/ledger/spending.ts';
import { type BudgetState, budgetStates } from '../jobs/plan/budgetCheck.ts';
import { onDidChangeSetting, readSetting } from './contributions/config.ts';
import type { Emitter } from '../core/processes/lifetime.ts';
import type { AccountMonitor } from './account/account.ts';
import type { Hosts } from './account/hosts.ts';
import type { JobStore } from './jobs/store/jobStore.ts';
import { statusView } from './statusText.ts';
import { hover } from './ui/show.ts';

const COMMANDS = ['farwharf.submitWorkspace', 'farwharf.jobs.focus', 'farwharf.selectHost', 'farwharf.setBudget'];

interface StatusDeps extends Pick<WindowParts, 'home' | 'ledger' | 'log'> {
  readonly account: AccountMonitor;
  /** Fired when this window has changed a budget. */
  readonly budgetsChanged: Emitter<void>;
  readonly hosts: Hosts;
  readonly store: JobStore;
}

/** The status bar item: the balance and the number of running jobs; prices and jobs in the hover. */
export function showStatus(
  item: vscode.StatusBarItem,
  { account, budgetsChanged, home, hosts, ledger, log, store }: StatusDeps,
): vscode.Disposable {
  let spent: readonly ProjectSpending[] = [];
  let budgets: readonly BudgetState[] = [];
  /** The host and the day of `spent`. */
  let spentAt = '';
  const readSpending = async (host: string, now: number): Promise<void> => {
    const periods = currentPeriods(now);
    const at = `${host} ${periods.day}`;
    if (at === spentAt) return;
    spentAt = at;
    [spent, budgets] = [[], []];
    // Without jobs, the thread of the ledger need not start.
    const hasJobs = store.records.length > 0 || (await hasLedger(home));
    spent = hasJobs ? await ledger.spending(host, periods) : [];
    budgets = await budgetStates({ home, ledger }, host, now);
    update();
  };
  const update = (): void => {
    const host = hosts.currentIfUsable();
    const now = Date.now();
    if (host !== undefined) {
      readSpending(host, now).catch((error: unknown) => log.warn('spending could not be read', { error }));
    }
    const view = statusView({
      host,
      state: account.state,
      refusal: account.refusal,
      account: host === undefined ? undefined : account.last(host),
      jobs: store.records,
      spent,
      budgets,
      hasFolder: vscode.workspace.workspaceFolders !== undefined,
      lowCredits: readSetting('lowCredits'),
      now,
    });
    item.text = view.text;
    item.tooltip = hover(view.tooltip, { hasIcons: true, commands: COMMANDS });
    item.accessibilityInformation = { label: view.spoken, role: 'button' };
    item.backgroundColor = view.isWarning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    item.command = view.command;
    item.show();
  };
  const known = new Set<string>();
  const disposables = new DisposableStore();
  disposables.add(
    budgetsChanged.event(() => {
      spentAt = '';
      update();
    }),
  );
  disposables.add(account.onDidChange(update));
  disposables.add(
    store.onDidChange(({ ids, ended }) => {
      // A job that is new reserves a part of its budget.
      const isNew = [...ids].some((id) => !known.has(id));
      for (const id of ids) known.add(id);
      if (ended.length > 0 || isNew) spentAt = '';
      update();
    }),
  );
  disposables.add(onDidChangeSetting('lowCredits', update));
  update();
  return disposables;
}
