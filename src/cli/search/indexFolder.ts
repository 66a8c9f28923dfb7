import { formatCount, formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { IndexStats } from '../../retrieval/index/index.ts';
import type { Context } from '../command/commandContext.ts';
import type { MeaningFlags } from './meaning.ts';
import { openUpToDateIndex } from './upToDateIndex.ts';

const REASONS: readonly (readonly [keyof IndexStats['skipped'], string])[] = [
  ['binary', 'binary'],
  ['too-large', 'larger than 1 MB'],
  ['unreadable', 'not readable'],
];

/**
 * `farwharf index`: updates the index of a folder, and its embeddings if semantic ranking is on. JSON: the size of the index, what
 * changed, and the seconds it took; then the state of semantic ranking.
 */
export async function indexFolder(context: Context, argument: string, flags: MeaningFlags): Promise<void> {
  const { terminal } = context;
  const { index, root, summary, seconds } = await openUpToDateIndex(argument || '.', context);
  using opened = index;
  const { files, chunks, skipped } = opened.stats;
  terminal.json({ folder: root, files, chunks, passed_over: skipped, ...summary, seconds });
  const { added, changed, removed } = summary;
  const changes = `${added} new, ${changed} changed, ${removed} gone`;
  terminal.answer(
    `${formatCount(files, 'file')} of ${printableLine(root)} in ${formatCount(chunks, 'chunk')}: ${changes}, in ${formatDuration(seconds)}.`,
  );
  for (const [status, reason] of REASONS) {
    const count = skipped[status];
    if (count !== undefined) terminal.note(`  skipped: ${formatCount(count, 'file')} (${reason})`);
  }
  const { embedFolder } = await import('./meaning.ts');
  const outcome = await embedFolder({ root, index: opened }, flags, context);
  if (outcome !== undefined) {
    const { state, estimate, note } = outcome;
    terminal.json({ meaning: { ...state, ...estimate } });
    terminal.note(note);
  }
}
