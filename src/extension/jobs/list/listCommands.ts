import * as l10n from '@vscode/l10n';
import { textField } from '../../../core/jsonFields.ts';
import type { AsyncLedger } from '../../../jobs/ledger/asyncLedger.ts';
import { NO_FILTER } from '../../../jobs/ledger/jobFilter.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import type { AccountMonitor } from '../../account/account.ts';
import type { Hosts } from '../../account/hosts.ts';
import type { Commands } from '../../contributions/commands.ts';
import { label } from '../../ui/labels.ts';
import { askText, pickRow, showDone, showProgress, showWarning } from '../../ui/show.ts';
import { connectionText, hostLabel } from '../../ui/words.ts';
import { type Grouping, GROUPINGS } from '../store/jobNodes.ts';
import type { JobStore } from '../store/jobStore.ts';
import type { ListOptions } from '../store/listOptions.ts';
import { filterPick } from './filterPick.ts';
import { type JobFinder, jobsCommand } from './jobCommand.ts';
import type { JobTree } from './jobTree.ts';
import { removeJob } from './removeJob.ts';
import type { WindowParts } from '../../contributions/parts.ts';
import { AppError } from '../../../core/errors.ts';
import { addJob as add } from '../../../jobs/log/addJob.ts';
import { diskFolders, pickFolder } from '../../workspace/folders.ts';

interface ListCommandDeps extends JobFinder, AddDeps {
  readonly account: AccountMonitor;
  readonly hosts: Hosts;
  readonly ledger: AsyncLedger;
  readonly listOptions: ListOptions;
  readonly store: JobStore;
  readonly tree: JobTree;
}

interface AddDeps extends Pick<WindowParts, 'ledger' | 'signal'> {
  readonly hosts: Pick<Hosts, 'current' | 'service'>;
  readonly store: Pick<JobStore, 'refresh'>;
  readonly tree: Pick<JobTree, 'reveal'>;
  /** Reads the log of a job that is not followed yet. */
  readonly follow: (record: JobRecord) => void;
}

export function listCommands(deps: ListCommandDeps) {
  const { account, hosts, listOptions, signal, store, tree } = deps;
  return {
    'farwharf.addJob': (argument) => addJob(deps, textField(argument, 'jobId')),
    'farwharf.removeJob': removeJob(deps),
    'farwharf.pinJob': jobsCommand(deps, {
      title: l10n.t('Pin'),
      only: { fits: ({ pinned }) => !pinned, none: l10n.t('All jobs in the list are pinned.') },
      run: (records) => setPinned(deps, records, true),
    }),
    'farwharf.unpinJob': jobsCommand(deps, {
      title: l10n.t('Unpin'),
      only: { fits: ({ pinned }) => pinned, none: l10n.t('No job in the list is pinned.') },
      run: (records) => setPinned(deps, records, false),
    }),
    'farwharf.filterJobs': async () => {
      if (!store.isLoaded) await store.refresh();
      await filterPick(deps);
    },
    'farwharf.clearJobFilter': () => listOptions.setFilter(NO_FILTER),
    'farwharf.groupJobs': (argument) => groupJobs(listOptions, argument),
    /** Shows more rows of the group that the argument names, or without one, older jobs. */
    'farwharf.showMoreJobs': (argument) => {
      const group = textField(argument, 'group');
      return group === undefined ? store.showMore() : tree.showMoreOf(group);
    },
    'farwharf.refreshJobs': async () => {
      await store.refresh();
      await account.refresh(signal);
      const problem = connectionText(account.state, hosts.currentIfUsable(), account.refusal);
      if (problem === undefined) showDone(l10n.t('The list of jobs is up to date'));
      else void showWarning(problem);
    },
  } satisfies Partial<Commands<'jobs'>>;
}

async function setPinned(
  { ledger, store }: ListCommandDeps,
  records: readonly JobRecord[],
  pinned: boolean,
): Promise<void> {
  for (const { id } of records) await ledger.update(id, { pinned });
  await store.refresh();
}

/** Groups the list by what the argument names, or by what the user picks. */
async function groupJobs(listOptions: ListOptions, argument: unknown): Promise<void> {
  const titles: Readonly<Record<Grouping, string>> = {
    day: l10n.t('Day'),
    state: l10n.t('State'),
    project: l10n.t('Project'),
    sweep: l10n.t('Sweep'),
  };
  const argumentGrouping = GROUPINGS.find((grouping) => grouping === argument);
  const rows = GROUPINGS.map((grouping) => ({
    label: label`${titles[grouping]}`,
    ...(grouping === listOptions.grouping && { description: label`${l10n.t('current')}` }),
    grouping,
  }));
  const grouping = argumentGrouping ?? (await pickRow(rows, { title: l10n.t('Group jobs by') }))?.grouping;
  if (grouping !== undefined) listOptions.setGrouping(grouping);
}

/**
 * Adds a job that was sent from elsewhere.
 *
 * @param named the service's ID of the job; the user enters it if it is undefined.
 * @returns the ID of its record; undefined if the user cancelled.
 */
async function addJob(
  { follow, hosts, ledger, signal, store, tree }: AddDeps,
  named: string | undefined,
): Promise<string | undefined> {
  const host = hosts.current();
  const title = l10n.t('Add a job of {0}', hostLabel(host));
  const folders = diskFolders();
  if (folders.length === 0)
    throw new AppError('no-folder', l10n.t('The results of a job are saved in a folder. Open one, then add the job.'));
  const folder = folders.length > 1 ? await pickFolder(title, l10n.t('Select the folder for its results')) : folders[0];
  if (folder === undefined) return undefined;
  const jobId =
    named ??
    (await askText({
      title,
      prompt: l10n.t('Job ID'),
      placeHolder: l10n.t('As the service returned it'),
      ignoreFocusOut: true,
    }));
  if (jobId === undefined || jobId.trim() === '') return undefined;
  const record = await showProgress({ location: { viewId: 'farwharf.jobs' } }, () =>
    add({ ledger, service: hosts.service(host) }, { host, jobId: jobId.trim(), folder: folder.uri.fsPath }, signal),
  );
  await store.refresh();
  follow(record);
  await tree.reveal(record.id);
  return record.id;
}
