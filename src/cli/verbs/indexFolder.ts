import { formatCount, formatDuration } from '../../core/format.ts';
import { plainText } from '../../core/terminalText.ts';
import type { IndexStats } from '../../retrieval/folderContent.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import { openUpToDateIndex } from '../upToDateIndex.ts';

const REASONS: Readonly<Record<keyof IndexStats['passedOver'], string>> = {
  indexed: '',
  binary: 'binary',
  'too-large': 'larger than 1 MB',
  unreadable: 'not readable',
  removed: '',
};

/** `farwharf index`: brings the index of a folder up to date. JSON: what it holds, what changed, and the seconds it took. */
export async function indexFolder(context: Context, argument: string): Promise<number> {
  const { terminal } = context;
  const { index, root, summary, seconds } = await openUpToDateIndex(argument || '.', context);
  using opened = index;
  const { files, chunks, passedOver } = opened.stats;
  terminal.json({ folder: root, files, chunks, passed_over: passedOver, ...summary, seconds });
  const { added, changed, removed } = summary;
  const changes = `${added} new, ${changed} changed, ${removed} gone`;
  terminal.answer(
    `${formatCount(files, 'file')} of ${plainText(root)} in ${formatCount(chunks, 'chunk')}: ${changes}, in ${formatDuration(seconds)}.`,
  );
  const reasons = Object.entries(passedOver) as [keyof typeof REASONS, number][];
  for (const [reason, count] of reasons)
    terminal.note(`  passed over: ${formatCount(count, 'file')} (${REASONS[reason]})`);
  return EXIT.done;
}
