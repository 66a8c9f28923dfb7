import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { DisposableStore } from '../../../core/processes/lifetime.ts';
import { isFiltering, jobMatcher } from '../../../jobs/ledger/jobFilter.ts';
import type { AccountMonitor } from '../../account/account.ts';
import type { Hosts } from '../../account/hosts.ts';
import type { ContextKeys } from '../../contributions/contexts.ts';
import type { JobStore } from '../store/jobStore.ts';
import { messageText } from '../../ui/labels.ts';
import { connectionText } from '../../ui/words.ts';
import { describeFilter, type ListOptions } from '../store/listOptions.ts';

interface ListStateDeps {
  readonly account: AccountMonitor;
  readonly contexts: ContextKeys;
  readonly hosts: Hosts;
  readonly listOptions: ListOptions;
  readonly store: JobStore;
}

/** Shows above the rows of the Jobs view which filter is active, and whether the service responds. */
export function showListState(
  view: Pick<vscode.TreeView<unknown>, 'message' | 'description'>,
  { account, contexts, hosts, listOptions, store }: ListStateDeps,
): vscode.Disposable {
  const show = (): void => {
    const { filter } = listOptions;
    contexts.set('jobsFiltered', isFiltering(filter));
    view.description = messageText(describeFilter(filter));
    view.message = messageOrNothing();
  };
  const messageOrNothing = (): string | undefined => {
    // An empty view shows its welcome text instead.
    if (store.records.length === 0) return undefined;
    const { filter } = listOptions;
    if (isFiltering(filter) && !store.records.some(jobMatcher(filter)))
      return messageText(l10n.t('No job passes the filter. Change or clear it to see your jobs.'));
    const text = connectionText(account.state, hosts.currentIfUsable(), account.refusal);
    return text === undefined ? undefined : messageText(text);
  };
  const disposables = new DisposableStore();
  for (const event of [account.onDidChange, store.onDidChange, listOptions.onDidChange]) disposables.add(event(show));
  show();
  return disposables;
}
