import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import type { CommandContext } from '../command.ts';
import { jobsCommand } from '../jobs/jobCommand.ts';

export const pinJob = jobsCommand({
  title: l10n.t('Pin'),
  only: { fits: ({ pinned }) => !pinned, none: l10n.t('All jobs in the list are pinned.') },
  run: (context, records) => setPinned(context, records, true),
});

export const unpinJob = jobsCommand({
  title: l10n.t('Unpin'),
  only: { fits: ({ pinned }) => pinned, none: l10n.t('No job in the list is pinned.') },
  run: (context, records) => setPinned(context, records, false),
});

async function setPinned({ services }: CommandContext, records: readonly JobRecord[], pinned: boolean): Promise<void> {
  for (const { id } of records) await services.ledger.update(id, { pinned });
  await services.store.refresh();
}
