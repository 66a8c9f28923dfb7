import * as l10n from '@vscode/l10n';
import { shownScript } from '../../../jobs/selection/script.ts';
import { AppError } from '../../../core/errors.ts';
import { formatInteger, plural } from '../../../core/text/format.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { isActive, type JobRecord } from '../../../jobs/ledger/record.ts';
import type { Services } from '../../services/services.ts';
import { askModal, showInformation } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';
import { jobsCommand } from '../jobs/jobCommand.ts';

const UNDO = l10n.t('Undo');

/** Removes jobs from the list. The service is not involved. */
export const removeJob = jobsCommand({
  title: l10n.t('Remove from List'),
  only: {
    fits: canRemove,
    none: l10n.t('All jobs in the list are still running. Cancel one first, or wait until it ends.'),
  },
  async run({ services }, records) {
    const removable = records.filter((record) => canRemove(record, services));
    const [first] = records;
    if (first !== undefined && removable.length === 0)
      throw new AppError(
        'conflict',
        l10n.t('{0} has not ended. Cancel it first, or wait until it ends.', printableLine(shownScript(first.script))),
      );
    if (!(await isSure(removable.filter(isActive)))) return;
    for (const { id } of removable) await services.ledger.remove(id);
    await services.store.refresh();
    if (records.length > 1) void offerUndo(services, records.length - removable.length, removable);
  },
});

/** Whether the job has ended, or its service no longer responds. One that is being sent would run without being in the list. */
function canRemove(record: JobRecord, { lostContacts }: Services): boolean {
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

async function offerUndo({ ledger, store }: Services, kept: number, removed: readonly JobRecord[]): Promise<void> {
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
