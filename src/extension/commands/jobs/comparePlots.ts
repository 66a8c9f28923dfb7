import { AppError } from '../../../core/errors.ts';
import { formatCount } from '../../../core/text/format.ts';
import { type JobRecord, shortId } from '../../../jobs/ledger/record.ts';
import { MAX_COMPARED } from '../../jobs/comparedJobs.ts';
import { jobRow } from '../../jobList/jobRow.ts';
import type { Services } from '../../services/services.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { pickMany } from '../../ui/picks.ts';
import { jobsCommand } from './jobCommand.ts';

const MAX_OFFERED = 200;

/** Shows the metrics of several jobs in the plots of one job's page: those selected, or those that the user picks. */
export const comparePlots = jobsCommand({
  title: 'Compare Plots',
  async run({ services }, records) {
    const [first, ...selected] = records.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    if (first === undefined) return;
    if (selected.length > MAX_COMPARED) {
      const most = formatCount(MAX_COMPARED + 1, 'job');
      throw new AppError('bad-input', `${records.length} jobs are selected. Plots compare at most ${most}.`);
    }
    const others = selected.length > 0 ? selected : await pickOthers(services, first);
    if (others !== undefined) services.pages.compare(first, others);
  },
});

/** Jobs of the same folder come first. Undefined if the user cancelled. */
async function pickOthers({ store, pages }: Services, record: JobRecord): Promise<readonly JobRecord[] | undefined> {
  const others = store.records.filter(({ id }) => id !== record.id);
  if (others.length === 0) throw new AppError('missing', 'There is no other job to compare with.');
  const [near, far] = [true, false].map((isNear) =>
    others.filter(({ folder }) => (folder === record.folder) === isNear),
  );
  const compared = new Set(pages.compared(record).map(({ id }) => id));
  const items = [...(near ?? []), ...(far ?? [])].slice(0, MAX_OFFERED).map((other) => {
    const { description, icon, label: name } = jobRow(other, { now: Date.now(), lost: undefined });
    return {
      label: label`$(${icon}) ${name}`,
      description: withoutIcons(description),
      detail: label`${shortId(other)}`,
      picked: compared.has(other.id),
      record: other,
    };
  });
  const chosen = await pickMany({
    title: `Compare the plots of ${record.script} (${shortId(record)}) with`,
    placeholder: `Check up to ${MAX_COMPARED} jobs; none removes the comparison`,
    items,
    limitTicks: (before, after) => (after.length > MAX_COMPARED ? before : after),
  });
  return chosen === undefined || chosen === 'back' ? undefined : chosen.map((row) => row.record);
}
