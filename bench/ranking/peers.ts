import type { Chunk } from '../../src/retrieval/chunks/chunk.ts';
import { openFts5, openMiniSearch, PEERS, type SearchPeer } from '../support/searchPeers.ts';

/** The indexes that are compared: as they come, and with what their options offer for code. */
export const RANKED: Readonly<Record<string, (chunks: readonly Chunk[]) => SearchPeer>> = {
  ...PEERS,
  'MiniSearch, code': (chunks) => openMiniSearch(chunks, { tokenize: codeTokens }),
  'FTS5, porter': (chunks) => openFts5(chunks, 'porter unicode61'),
};

const WORD = /[\p{L}\p{N}_$]+/gu;
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu;

/** Words whole and in the parts of their identifiers, as our own analysis has them. */
function codeTokens(text: string): string[] {
  return (text.match(WORD) ?? []).flatMap((word) => {
    const parts = word.match(PART) ?? [];
    return parts.length > 1 ? [word, ...parts] : [word];
  });
}
