import { shownScript } from '../../../jobs/selection/script.ts';
import { AppError } from '../../../core/errors.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { isActive, type JobRecord } from '../../../jobs/ledger/record.ts';
import type { Services } from '../../services/services.ts';
import { askModal } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';
import { jobCommand } from './jobCommand.ts';

/** Removes a job from the list. The service is not involved. */
export const removeJob = jobCommand({
  title: 'Remove from List',
  fits: canRemove,
  async run({ services }, record) {
    if (!canRemove(record, services))
      throw new AppError(
        'conflict',
        `${printableLine(shownScript(record.script))} is still running. Cancel it first, or wait until it ends.`,
      );
    if (isActive(record)) {
      const detail = `${hostLabel(record.host)} cannot be asked, so the job may still run there and cost credits.`;
      const answer = await askModal(`Remove ${record.script} from the list?`, { detail, isWarning: true }, 'Remove');
      if (answer === undefined) return;
    }
    await services.ledger.remove(record.id);
    await services.store.refresh();
  },
});

/** Whether the job has ended, or its service no longer responds. */
function canRemove(record: JobRecord, { lostContacts }: Services): boolean {
  return !isActive(record) || lostContacts.get(record.id) !== undefined;
}
