import type { Chunk } from '../../src/retrieval/chunks/chunk.ts';
import { DatabaseSync } from 'node:sqlite';
import { codeTokens } from '../support/codeTokens.ts';
import { MiniSearch } from '../support/miniSearch.ts';
import { openFts5, openMiniSearch, PEERS, type SearchPeer } from '../support/searchPeers.ts';

/** Peers that get the same information as our index: names of definitions and paths as fields, and identifiers taken apart. */
export const INFORMED: Readonly<Record<string, (chunks: readonly Chunk[]) => SearchPeer>> = {
  'MiniSearch+': openInformedMiniSearch,
  'FTS5+': openInformedFts5,
};

/** The indexes that are compared: as they come, and with what their options offer for code. */
export const RANKED: Readonly<Record<string, (chunks: readonly Chunk[]) => SearchPeer>> = {
  ...PEERS,
  'MiniSearch, code': (chunks) => openMiniSearch(chunks, { tokenize: codeTokens }),
  'FTS5, porter': (chunks) => openFts5(chunks, 'porter unicode61'),
  ...INFORMED,
};

// As much more as names and paths count in our index.
const FIELD_WEIGHTS = { symbols: 8, path: 2 };

function openInformedMiniSearch(chunks: readonly Chunk[]): SearchPeer {
  const options = {
    fields: ['text', 'symbols', 'path'],
    tokenize: codeTokens,
    searchOptions: { boost: FIELD_WEIGHTS },
  };
  const index = new MiniSearch(options);
  index.addAll(chunks.map(({ text, symbols, source }, id) => ({ id, text, symbols: symbols.join(' '), path: source })));
  return {
    search: (query, limit) =>
      index
        .search(query)
        .slice(0, limit)
        .map(({ id }) => id),
  };
}

function openInformedFts5(chunks: readonly Chunk[]): SearchPeer {
  const split = (text: string): string => codeTokens(text).join(' ');
  const database = new DatabaseSync(':memory:');
  database.exec("CREATE VIRTUAL TABLE chunks USING fts5(text, symbols, path, content='', tokenize='porter unicode61')");
  const insert = database.prepare('INSERT INTO chunks(rowid, text, symbols, path) VALUES (?, ?, ?, ?)');
  database.exec('BEGIN');
  for (const [id, { text, symbols, source }] of chunks.entries()) {
    insert.run(id, split(text), split(symbols.join(' ')), split(source));
  }
  database.exec('COMMIT');
  const { symbols, path } = FIELD_WEIGHTS;
  const find = database.prepare(
    `SELECT rowid FROM chunks WHERE chunks MATCH ? ORDER BY bm25(chunks, 1, ${symbols}, ${path}) LIMIT ?`,
  );
  return {
    search: (query, limit) => {
      const words = codeTokens(query).map((word) => `"${word}"`);
      return words.length === 0 ? [] : find.all(words.join(' OR '), limit).map(({ rowid }) => Number(rowid));
    },
  };
}
