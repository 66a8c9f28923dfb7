import * as l10n from '@vscode/l10n';
import { showDone, showWarning } from '../../ui/show.ts';
import { connectionText } from '../../ui/words.ts';
import type { Command } from '../command.ts';

export const refreshJobs: Command = async ({ services: { account, hosts, signal, store } }) => {
  await store.refresh();
  const host = hosts.current();
  await account.refresh(signal);
  const problem = connectionText(account.state, host);
  if (problem === undefined) showDone(l10n.t('The list of jobs is up to date'));
  else void showWarning(problem);
};
