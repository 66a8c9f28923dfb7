import type { Chunk } from '../chunks/chunk.ts';
import type { IndexedFile } from './indexedFile.ts';
import type { Index } from './index.ts';
import type { IndexHit, IndexSearchOptions } from './indexSearch.ts';
import type { Query } from '../search/query.ts';

// Tokenizers of current models split code into tokens of three to four characters. The lower number keeps within the budget.
const CHARACTERS_PER_TOKEN = 3;
// The path and lines of a result.
const FRAME_TOKENS = 12;
// A definition that takes a larger part of the budget would leave too little for other files.
const MOST_OF_BUDGET = 0.4;
// More results than fit into a common budget.
const MOST_BUDGETED = 50;

export interface BudgetedHit extends IndexHit {
  /** Whether it is part of a definition that is too large. */
  readonly isPartial: boolean;
  readonly tokens: number;
}

/** The approximate number of tokens of a text for a language model. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN) + FRAME_TOKENS;
}

/** The best files for a query whose definitions together have at most `maxTokens` tokens for a language model, by estimate. */
export async function searchWithin(
  index: Pick<Index, 'search' | 'fileAt'>,
  query: Query | string,
  { maxTokens, ...options }: IndexSearchOptions & { readonly maxTokens: number },
): Promise<readonly BudgetedHit[]> {
  const hits = await index.search(query, MOST_BUDGETED, options);
  return withinBudget(hits, maxTokens, (path) => index.fileAt(path));
}

/**
 * The best results that fit a budget of tokens together, with whole definitions. Of one that is too large, only the best chunk is included,
 * and a result that no longer fits is left out.
 */
function withinBudget(
  hits: readonly IndexHit[],
  maxTokens: number,
  fileAt: (path: string) => IndexedFile | undefined,
): readonly BudgetedHit[] {
  const budgeted: BudgetedHit[] = [];
  let left = maxTokens;
  for (const hit of hits) {
    const chunks = fileAt(hit.path)?.chunks ?? [];
    const at = chunks.findIndex(({ startLine, text }) => startLine === hit.startLine && text === hit.text);
    const whole = at < 0 ? hit : { ...hit, ...definitionAround(chunks, at) };
    const isWhole = countTokens(whole.text) <= Math.min(left, MOST_OF_BUDGET * maxTokens);
    const part = isWhole ? whole : hit;
    const tokens = countTokens(part.text);
    if (tokens > left) continue;
    left -= tokens;
    budgeted.push({ ...part, tokens, isPartial: !isWhole && whole.text !== hit.text });
  }
  return budgeted;
}

/** The definition that a chunk is a part of, from all of its chunks. */
function definitionAround(
  chunks: readonly Chunk[],
  at: number,
): Pick<Chunk, 'text' | 'symbols' | 'scope' | 'startLine' | 'endLine'> {
  let first = at;
  while (first > 0 && isContinued(chunks[first - 1], chunks[first])) first -= 1;
  let last = at;
  while (isContinued(chunks[last], chunks[last + 1])) last += 1;
  const parts = chunks.slice(first, last + 1);
  const { symbols = [], scope = [], startLine = 1 } = parts[0] ?? {};
  // Blank chunks are left out, and a line that is too long for a chunk is in several.
  const gaps = parts.map(({ startLine: line }, index) => Math.max(0, line - (parts[index - 1]?.endLine ?? line)));
  const text = parts.map((part, index) => '\n'.repeat(gaps[index] ?? 0) + part.text).join('');
  return { text, symbols, scope, startLine, endLine: parts.at(-1)?.endLine ?? startLine };
}

/** Whether a chunk continues the definition of the one before it: it defines nothing, and is inside of that one's first definition. */
function isContinued(before: Chunk | undefined, chunk: Chunk | undefined): boolean {
  if (before === undefined || chunk === undefined || chunk.symbols.length > 0) return false;
  const inside = before.symbols.length > 0 ? [...before.scope, before.symbols[0]] : before.scope;
  return (
    inside.length > 0 && inside.length === chunk.scope.length && inside.every((name, at) => name === chunk.scope[at])
  );
}
