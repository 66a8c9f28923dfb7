import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { textField } from '../../../core/jsonFields.ts';
import type { Sweep } from '../../../jobs/sweeps/sweep.ts';
import { countJobs, describeCounts } from '../../../jobs/sweeps/sweepProgress.ts';
import { SweepStore } from '../../../jobs/sweeps/sweepStore.ts';
import type { Services } from '../../services/services.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { pickRow } from '../../ui/show.ts';
import type { Command, CommandContext } from '../command.ts';

/** A command on one sweep: the one that the argument names, or one that the user picks. */
export function sweepCommand(
  title: string,
  run: (context: CommandContext, sweep: Sweep, argument: unknown) => unknown,
): Command {
  return async (context, argument) => {
    const id = typeof argument === 'string' ? argument : textField(argument, 'sweep');
    const sweep = id === undefined ? await pickSweep(context.services, title) : await findSweep(context.services, id);
    return sweep === undefined ? undefined : run(context, sweep, argument);
  };
}

async function findSweep({ home }: Services, id: string): Promise<Sweep> {
  const store = new SweepStore(home);
  // Only complete IDs: a prefix from another extension could match a sweep that nobody chose.
  const sweep = (await store.ids()).includes(id) ? await store.read(id) : undefined;
  if (sweep === undefined) throw new AppError('missing', l10n.t('This sweep is no longer stored on this machine.'));
  return sweep;
}

async function pickSweep({ home, ledger }: Services, title: string): Promise<Sweep | undefined> {
  const store = new SweepStore(home);
  const sweeps: Sweep[] = [];
  for (const id of await store.ids()) {
    const sweep = await store.read(id).catch((): undefined => undefined); // damaged
    if (sweep !== undefined) sweeps.push(sweep);
  }
  if (sweeps.length === 0) {
    throw new AppError(
      'missing',
      l10n.t('{0}: no sweeps yet. Add a "matrix" to a profile in farwharf.json and submit it.', title),
    );
  }
  const items = await Promise.all(
    sweeps
      .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))
      .map(async (sweep) => {
        const { id, drafts, name, createdAt } = sweep;
        const records = await ledger.list({ sweep: id, withRemoved: true, limit: drafts.length });
        const counts = describeCounts(countJobs(drafts.length, records, Date.now()));
        const detail = label`${new Date(createdAt).toLocaleString()}`;
        return { label: withoutIcons(name), description: withoutIcons(counts), detail, sweep };
      }),
  );
  return (await pickRow(items, { title, matchOnDescription: true, matchOnDetail: true }))?.sweep;
}
