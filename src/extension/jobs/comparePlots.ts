import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { type JobRecord, shortId } from '../../jobs/ledger/record.ts';
import { MAX_COMPARED } from './comparedJobs.ts';
import { jobRow } from './list/jobRow.ts';
import type { Command } from '../contributions/commands.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import { pickMany } from '../ui/picks.ts';
import { type JobFinder, jobsCommand } from './list/jobCommand.ts';
import type { JobPages } from './jobPages.ts';

const MAX_OFFERED = 200;

interface PlotDeps extends JobFinder {
  readonly pages: Pick<JobPages, 'compare' | 'compared'>;
}

/** Shows the metrics of several jobs in the plots of one job's page: those selected, or those that the user picks. */
export function comparePlots(deps: PlotDeps): Command {
  return jobsCommand(deps, {
    title: l10n.t('Compare Plots'),
    async run(records) {
      const [first, ...selected] = records.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
      if (first === undefined) return;
      if (selected.length > MAX_COMPARED) {
        throw new AppError(
          'bad-input',
          l10n.t('{0} jobs are selected. Plots compare at most {1} jobs.', records.length, MAX_COMPARED + 1),
        );
      }
      const others = selected.length > 0 ? selected : await pickOthers(deps, first);
      if (others !== undefined) deps.pages.compare(first, others);
    },
  });
}

/** Jobs of the same folder come first. Undefined if the user cancelled. */
async function pickOthers({ store, pages }: PlotDeps, record: JobRecord): Promise<readonly JobRecord[] | undefined> {
  const others = store.records.filter(({ id }) => id !== record.id);
  if (others.length === 0) throw new AppError('missing', l10n.t('There is no other job to compare with.'));
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
  const rows = await pickMany({
    title: l10n.t('Compare the plots of {0} ({1}) with', record.script, shortId(record)),
    placeholder: l10n.t('Check up to {0} jobs; none removes the comparison', MAX_COMPARED),
    items,
    limitTicks: (before, after) => (after.length > MAX_COMPARED ? before : after),
  });
  return rows === undefined || rows === 'back' ? undefined : rows.map((row) => row.record);
}
