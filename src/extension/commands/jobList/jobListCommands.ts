import * as l10n from '@vscode/l10n';
import { textField } from '../../../core/jsonFields.ts';
import { NO_FILTER } from '../../../jobs/ledger/jobFilter.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { filterPick } from '../../jobs/list/filterPick.ts';
import { showDone, showWarning } from '../../ui/show.ts';
import { connectionText } from '../../ui/words.ts';
import { type CommandContext, type Commands, withArgument } from '../command.ts';
import { jobsCommand } from '../jobs/jobCommand.ts';
import { addJob } from './addJob.ts';
import { groupJobs } from './groupJobs.ts';
import { removeJob } from './removeJob.ts';

export const jobListCommands = {
  'farwharf.addJob': addJob,
  'farwharf.removeJob': removeJob,
  'farwharf.pinJob': jobsCommand({
    title: l10n.t('Pin'),
    only: { fits: ({ pinned }) => !pinned, none: l10n.t('All jobs in the list are pinned.') },
    run: (context, records) => setPinned(context, records, true),
  }),
  'farwharf.unpinJob': jobsCommand({
    title: l10n.t('Unpin'),
    only: { fits: ({ pinned }) => pinned, none: l10n.t('No job in the list is pinned.') },
    run: (context, records) => setPinned(context, records, false),
  }),
  'farwharf.filterJobs': async ({ services }) => {
    if (!services.store.isLoaded) await services.store.refresh();
    await filterPick(services);
  },
  'farwharf.clearJobFilter': ({ services }) => services.listOptions.setFilter(NO_FILTER),
  'farwharf.groupJobs': groupJobs,
  /** Shows more rows of the group that the argument names, or without one, older jobs. */
  'farwharf.showMoreJobs': withArgument(
    (argument) => textField(argument, 'group'),
    ({ services, tree }, group) => (group === undefined ? services.store.showMore() : tree.showMoreOf(group)),
  ),
  'farwharf.refreshJobs': async ({ services: { account, hosts, signal, store } }) => {
    await store.refresh();
    await account.refresh(signal);
    const problem = connectionText(account.state, hosts.currentIfUsable(), account.refusal);
    if (problem === undefined) showDone(l10n.t('The list of jobs is up to date'));
    else void showWarning(problem);
  },
} satisfies Commands;

async function setPinned({ services }: CommandContext, records: readonly JobRecord[], pinned: boolean): Promise<void> {
  for (const { id } of records) await services.ledger.update(id, { pinned });
  await services.store.refresh();
}
