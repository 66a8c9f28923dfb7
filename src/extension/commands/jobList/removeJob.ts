import { shownScript } from '../../../jobs/selection/script.ts';
import { AppError } from '../../../core/errors.ts';
import { formatCount } from '../../../core/text/format.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { isActive, type JobRecord } from '../../../jobs/ledger/record.ts';
import type { Services } from '../../services/services.ts';
import { askModal, showInformation } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';
import { jobsCommand } from '../jobs/jobCommand.ts';

const UNDO = 'Undo';

/** Removes jobs from the list. The service is not involved. */
export const removeJob = jobsCommand({
  title: 'Remove from List',
  fits: canRemove,
  async run({ services }, records) {
    const removable = records.filter((record) => canRemove(record, services));
    const [first] = records;
    if (first !== undefined && removable.length === 0)
      throw new AppError(
        'conflict',
        `${printableLine(shownScript(first.script))} is still running. Cancel it first, or wait until it ends.`,
      );
    if (!(await isSure(removable.filter(isActive)))) return;
    for (const { id } of removable) await services.ledger.remove(id);
    await services.store.refresh();
    if (records.length > 1) void offerUndo(services, records.length - removable.length, removable);
  },
});

/** Whether the job has ended, or its service no longer responds. */
function canRemove(record: JobRecord, { lostContacts }: Services): boolean {
  return !isActive(record) || lostContacts.get(record.id) !== undefined;
}

async function isSure(active: readonly JobRecord[]): Promise<boolean> {
  const [first, ...others] = active;
  if (first === undefined) return true;
  const detail = `${hostLabel(first.host)} cannot be asked, so what you remove may still run there and cost credits.`;
  const which = others.length === 0 ? first.script : formatCount(active.length, 'unfinished job');
  return (await askModal(`Remove ${which} from the list?`, { detail, isWarning: true }, 'Remove')) !== undefined;
}

async function offerUndo({ ledger, store }: Services, kept: number, removed: readonly JobRecord[]): Promise<void> {
  const still = kept === 0 ? '' : ` ${formatCount(kept, 'job is', 'jobs are')} still running and stayed.`;
  const choice = await showInformation(`${formatCount(removed.length, 'job')} removed from the list.${still}`, UNDO);
  if (choice !== UNDO) return;
  for (const { id } of removed) await ledger.update(id, { removed: false });
  await store.refresh();
}
