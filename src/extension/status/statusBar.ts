import * as vscode from 'vscode';
import { DisposableStore } from '../../core/processes/lifetime.ts';
import type { AccountMonitor } from '../connection/account.ts';
import { onDidChangeSetting, readSetting } from '../contributions/config.ts';
import type { Hosts } from '../connection/hosts.ts';
import type { JobStore } from '../jobs/jobStore.ts';
import { statusView } from './statusText.ts';
import { hover } from '../ui/show.ts';

const COMMANDS = ['farwharf.submitWorkspace', 'farwharf.jobs.focus', 'farwharf.selectHost'];

/** The status bar item: the balance and the number of running jobs; prices and jobs in the hover. */
export function showStatus(
  item: vscode.StatusBarItem,
  { account, hosts, store }: { account: AccountMonitor; hosts: Hosts; store: JobStore },
): vscode.Disposable {
  const update = (): void => {
    const host = hosts.currentIfUsable();
    const view =
      host === undefined
        ? undefined
        : statusView({
            host,
            state: account.state,
            account: account.last(host),
            jobs: store.records,
            lowCredits: readSetting('lowCredits'),
            now: Date.now(),
          });
    if (view === undefined) {
      item.hide();
      return;
    }
    item.text = view.text;
    item.tooltip = hover(view.tooltip, { hasIcons: true, commands: COMMANDS });
    item.accessibilityInformation = { label: view.spoken, role: 'button' };
    item.backgroundColor = view.isWarning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    item.command = view.command;
    item.show();
  };
  const disposables = new DisposableStore();
  disposables.add(account.onDidChange(update));
  disposables.add(store.onDidChange(update));
  disposables.add(onDidChangeSetting('lowCredits', update));
  update();
  return disposables;
}
