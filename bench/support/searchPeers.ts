import { DatabaseSync } from 'node:sqlite';
import lunr from 'lunr';
import type { Chunk } from '../../src/retrieval/chunks/chunk.ts';
import { plainQuery } from '../../src/retrieval/search/query.ts';
import { scanWords } from '../../src/retrieval/tokenizer/scanWords.ts';
import { SegmentBuilder } from '../../src/retrieval/segments/segmentBuilder.ts';
import { SegmentSet } from '../../src/retrieval/search/segmentSet.ts';
import { toTermQuery } from '../../src/retrieval/search/termQuery.ts';
import { WordAnalyzer } from '../../src/retrieval/tokenizer/wordAnalyzer.ts';
import { MiniSearch, type MiniSearchAnalysis } from './miniSearch.ts';

/** An index over chunks, which it knows by their numbers. */
export interface SearchPeer {
  readonly search: (query: string, limit: number) => readonly number[];
}

export const PEERS: Readonly<Record<string, (chunks: readonly Chunk[]) => SearchPeer>> = {
  farwharf: openOurs,
  lunr: openLunr,
  MiniSearch: (chunks) => openMiniSearch(chunks),
  FTS5: (chunks) => openFts5(chunks),
};

function openOurs(chunks: readonly Chunk[]): SearchPeer {
  const analyzer = new WordAnalyzer();
  const builder = new SegmentBuilder();
  const firsts = new Map<string, number>();
  let first = 0;
  for (const [path, own] of Map.groupBy(chunks, ({ source }) => source)) {
    builder.add({ path, size: 0, mtimeMs: 0, hash: '', status: 'indexed' }, own);
    firsts.set(path, first);
    first += own.length;
  }
  const set = new SegmentSet();
  set.add(builder.finish());
  return {
    search: (query, limit) =>
      set
        .topMatches(toTermQuery(plainQuery(query), analyzer), limit)
        .map(({ source, ordinal }) => (firsts.get(source.path) ?? 0) + ordinal),
  };
}

function openLunr(chunks: readonly Chunk[]): SearchPeer {
  const index = lunr(function build() {
    this.ref('id');
    this.field('text');
    for (const [id, { text }] of chunks.entries()) this.add({ id, text });
  });
  return {
    search: (query, limit) =>
      index
        .query((clauses) => {
          clauses.term(wordsOf(query), {}); // its own parser would take signs as operators, and keeps commas in words
        })
        .slice(0, limit)
        .map(({ ref }) => Number(ref)),
  };
}

export function openMiniSearch(chunks: readonly Chunk[], analysis: MiniSearchAnalysis = {}): SearchPeer {
  const options = { fields: ['text'], ...analysis };
  const index = new MiniSearch(options);
  index.addAll(chunks.map(({ text }, id) => ({ id, text })));
  return {
    search: (query, limit) =>
      index
        .search(query)
        .slice(0, limit)
        .map(({ id }) => id),
  };
}

export function openFts5(chunks: readonly Chunk[], tokenize = 'unicode61'): SearchPeer {
  const database = new DatabaseSync(':memory:');
  database.exec(`CREATE VIRTUAL TABLE chunks USING fts5(text, content='', tokenize='${tokenize}')`);
  const insert = database.prepare('INSERT INTO chunks(rowid, text) VALUES (?, ?)');
  database.exec('BEGIN');
  for (const [id, { text }] of chunks.entries()) insert.run(id, text);
  database.exec('COMMIT');
  const find = database.prepare('SELECT rowid FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT ?');
  return {
    search: (query, limit) => {
      const words = wordsOf(query).map((word) => `"${word}"`);
      return words.length === 0 ? [] : find.all(words.join(' OR '), limit).map(({ rowid }) => Number(rowid));
    },
  };
}

function wordsOf(query: string): string[] {
  const words: string[] = [];
  scanWords(query, (word) => words.push(word));
  return words;
}
