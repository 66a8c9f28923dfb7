import { formatBytes } from '../../core/text/format.ts';
import { type AdminFlags, findAdmin } from './adminService.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';
import { type Column, formatTable } from '../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'ACCOUNT' },
  { title: 'JOBS', align: 'right' },
  { title: 'RESULTS', align: 'right' },
  { title: 'OLDEST', dropOrder: 1 },
];

/** `farwharf admin disk`: what is free and whose results take how much. JSON: `{ free_bytes, store_bytes, accounts: [...] }`. */
export async function showDisk(context: Context, _: string, flags: AdminFlags): Promise<number> {
  const { terminal } = context;
  using admin = await findAdmin(context, flags);
  const answer = await admin.call('disk.usage', {});
  terminal.json(answer);
  if (terminal.isJson) return EXIT.done;
  const { accounts, free_bytes: free, store_bytes: store } = answer;
  const rows = accounts.map(({ account_id: id, jobs, results_bytes: bytes, oldest_ended_at: oldest }) => [
    id,
    String(jobs),
    formatBytes(bytes),
    oldest.slice(0, 10),
  ]);
  const table = formatTable(COLUMNS, rows, terminal.answerColumns);
  for (const line of rows.length > 0 ? table : ['No results are stored.']) terminal.answer(line);
  terminal.note(`The store uses ${formatBytes(store)}; ${formatBytes(free)} are free.`);
  return EXIT.done;
}
