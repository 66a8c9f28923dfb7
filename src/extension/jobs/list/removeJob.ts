import * as l10n from '@vscode/l10n';
import { shownScript } from '../../../jobs/selection/script.ts';
import { AppError } from '../../../core/errors.ts';
import { formatInteger, plural } from '../../../core/text/format.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { isActive, type JobRecord } from '../../../jobs/ledger/record.ts';
import type { AsyncLedger } from '../../../jobs/ledger/asyncLedger.ts';
import type { Command } from '../../contributions/commands.ts';
import { askModal, showInformation } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';
import { type JobFinder, jobsCommand } from './jobCommand.ts';

const UNDO = l10n.t('Undo');

interface RemoveDeps extends JobFinder {
  readonly ledger: AsyncLedger;
}

/** Removes jobs from the list. The service is not involved. */
export function removeJob(deps: RemoveDeps): Command {
  const { ledger, store } = deps;
  const fits = (record: JobRecord): boolean => canRemove(record, deps);
  return jobsCommand(deps, {
    title: l10n.t('Remove from List'),
    only: { fits, none: l10n.t('All jobs in the list are still running. Cancel one first, or wait until it ends.') },
    async run(records) {
      const removable = records.filter(fits);
      const [first] = records;
      if (first !== undefined && removable.length === 0)
        throw new AppError(
          'conflict',
          l10n.t(
            '{0} has not ended. Cancel it first, or wait until it ends.',
            printableLine(shownScript(first.script)),
          ),
        );
      if (!(await isSure(removable.filter(isActive)))) return;
      for (const { id } of removable) await ledger.remove(id);
      await store.refresh();
      if (records.length > 1) void offerUndo(deps, records.length - removable.length, removable);
    },
  });
}

/** Whether the job has ended, or its service no longer responds. One that is being sent would run without being in the list. */
function canRemove(record: JobRecord, { lostContacts }: RemoveDeps): boolean {
  return (!isActive(record) && record.state !== 'sending') || lostContacts.get(record.id) !== undefined;
}

async function isSure(active: readonly JobRecord[]): Promise<boolean> {
  const [first, ...others] = active;
  if (first === undefined) return true;
  const detail = l10n.t(
    '{0} does not respond. Jobs that you remove may still run there and cost credits.',
    hostLabel(first.host),
  );
  const question =
    others.length === 0
      ? l10n.t('Remove {0} from the list?', first.script)
      : l10n.t('Remove {0} unfinished jobs from the list?', formatInteger(active.length));
  return (await askModal(question, { detail, isWarning: true }, l10n.t('Remove'))) !== undefined;
}

async function offerUndo({ ledger, store }: RemoveDeps, kept: number, removed: readonly JobRecord[]): Promise<void> {
  const gone = plural(
    removed.length,
    l10n.t('1 job removed from the list.'),
    l10n.t('{0} jobs removed from the list.'),
  );
  const remaining = plural(
    kept,
    l10n.t('1 job is still running, so it stays in the list.'),
    l10n.t('{0} jobs are still running, so they stay in the list.'),
  );
  const choice = await showInformation(kept === 0 ? gone : `${gone} ${remaining}`, UNDO);
  if (choice !== UNDO) return;
  for (const { id } of removed) await ledger.update(id, { removed: false });
  await store.refresh();
}
