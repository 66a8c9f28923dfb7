import { formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { FolderHit } from '../../retrieval/folder/folderSearch.ts';
import type { Context } from '../command/context.ts';
import { openUpToDateIndex } from './upToDateIndex.ts';

const SHOWN_LINES = 4;

/**
 * `farwharf search`: the results of a query in a folder, best first. JSON: `{ hits: [...] }`, each with its text,
 * and the state of semantic ranking if it is on.
 */
export async function search(
  context: Context,
  query: string,
  { folder, topK }: { folder: string; topK: number },
): Promise<void> {
  const { terminal } = context;
  const { index, root } = await openUpToDateIndex(folder, context);
  using opened = index;
  const { describeFallback, nearestPlaces } = await import('./meaning.ts');
  const meaning = await nearestPlaces(query, root, context);
  const hits = await opened.search(query, topK, meaning?.near);
  terminal.json({ hits: hits.map(hitAsJson), ...(meaning === undefined ? {} : { meaning: meaning.state }) });
  const fallback = meaning && describeFallback(meaning.state);
  if (fallback !== undefined) terminal.note(fallback);
  if (terminal.isJson) return;
  if (hits.length === 0) {
    terminal.note(`Nothing in ${formatCount(opened.stats.files, 'file')} matches that query.`);
  }
  for (const hit of hits) for (const line of describeHit(hit)) terminal.answer(line);
}

function hitAsJson({ path, startLine, endLine, score, symbols, scope, text }: FolderHit): object {
  return { path, start_line: startLine, end_line: endLine, score, symbols, scope, text };
}

/** `path:line  names`, as editors open it, and the first lines that are not blank. */
function describeHit({ path, startLine, scope, symbols, text }: FolderHit): string[] {
  const names = [...scope, ...symbols].slice(0, SHOWN_LINES).join(' · ');
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return [
    `${path}:${startLine}${names === '' ? '' : `  ${names}`}`,
    ...lines.slice(0, SHOWN_LINES).map((line) => `    ${line.slice(0, 120)}`),
    '',
  ].map((line) => printableLine(line));
}
