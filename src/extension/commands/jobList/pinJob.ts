import type { JobRecord } from '../../../jobs/ledger/record.ts';
import type { CommandContext } from '../command.ts';
import { jobsCommand } from '../jobs/jobCommand.ts';

export const pinJob = jobsCommand({
  title: 'Pin',
  fits: ({ pinned }) => !pinned,
  run: (context, records) => setPinned(context, records, true),
});

export const unpinJob = jobsCommand({
  title: 'Unpin',
  fits: ({ pinned }) => pinned,
  run: (context, records) => setPinned(context, records, false),
});

async function setPinned({ services }: CommandContext, records: readonly JobRecord[], pinned: boolean): Promise<void> {
  for (const { id } of records) await services.ledger.update(id, { pinned });
  await services.store.refresh();
}
