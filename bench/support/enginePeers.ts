import { rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import lunr from 'lunr';
import type { Chunk } from '../../src/retrieval/chunks/chunk.ts';
import { parseQuery, type Query } from '../../src/retrieval/search/query.ts';
import { scanWords } from '../../src/retrieval/tokenizer/scanWords.ts';
import { SegmentBuilder } from '../../src/retrieval/segments/segmentBuilder.ts';
import { decodeSegment, encodeSegment } from '../../src/retrieval/segments/segmentFile.ts';
import { SegmentSet } from '../../src/retrieval/search/segmentSet.ts';
import { toTermQuery } from '../../src/retrieval/search/termQuery.ts';
import { WordAnalyzer } from '../../src/retrieval/tokenizer/wordAnalyzer.ts';
import { codeTokens } from './codeTokens.ts';
import { MiniSearch } from './miniSearch.ts';

/** An index that takes the chunks of one file after the other, so that a large folder need not be in memory. */
export interface EnginePeer {
  add(path: string, chunks: readonly Chunk[]): void;
  finish(): void;
  search(query: string, limit: number): void;
  /** Its size on disk. */
  bytes(): number;
  /** Opens it again from its bytes; undefined if it is a file that is opened directly. */
  readonly load?: () => void;
}

/** As many bytes of files make one segment when a folder is built. */
const SEGMENT_CHARACTERS = 24_000_000;

export class OurEngine implements EnginePeer {
  readonly set = new SegmentSet();
  readonly #analyzer = new WordAnalyzer();
  readonly #encoded: Uint8Array[] = [];
  readonly #file: string;
  #builder: SegmentBuilder | undefined;
  #characters = 0;

  /** Writes its segments to files that begin with a name. */
  constructor(file: string) {
    this.#file = file;
  }

  add(path: string, chunks: readonly Chunk[]): void {
    this.#builder ??= new SegmentBuilder();
    this.#builder.add({ path, size: 0, mtimeMs: 0, hash: '', status: 'indexed' }, chunks);
    for (const { text } of chunks) this.#characters += text.length;
    if (this.#characters > SEGMENT_CHARACTERS) this.finish();
  }

  /** Writes a segment, as when a folder is built. */
  finish(): void {
    if (this.#builder === undefined) return;
    const segment = this.#builder.finish();
    const bytes = encodeSegment(segment);
    writeFileSync(`${this.#file}.${this.#encoded.length}`, bytes);
    this.#encoded.push(bytes);
    this.set.add(segment);
    this.#builder = undefined;
    this.#characters = 0;
  }

  search(query: string, limit: number): void {
    this.find(parseQuery(query), limit);
  }

  find(query: Query, limit: number): void {
    this.set.topMatches(toTermQuery(query, this.#analyzer), limit);
  }

  /** Replaces the indexed contents of a file. */
  update(path: string, chunks: readonly Chunk[]): void {
    const builder = new SegmentBuilder();
    builder.add({ path, size: 0, mtimeMs: 0, hash: '', status: 'indexed' }, chunks);
    this.set.add(builder.finish());
  }

  bytes(): number {
    return this.#encoded.reduce((sum, { length }) => sum + length, 0);
  }

  load(): void {
    const set = new SegmentSet();
    for (const bytes of this.#encoded) {
      const segment = decodeSegment(bytes);
      if (segment !== undefined) set.add(segment);
    }
  }
}

class LunrPeer implements EnginePeer {
  readonly #builder = new lunr.Builder();
  #index: lunr.Index | undefined;
  #json = '';
  #count = 0;

  constructor() {
    // What `lunr()` sets up.
    this.#builder.pipeline.add(lunr.trimmer, lunr.stopWordFilter, lunr.stemmer);
    this.#builder.searchPipeline.add(lunr.stemmer);
    this.#builder.ref('id');
    this.#builder.field('text');
  }

  add(_path: string, chunks: readonly Chunk[]): void {
    for (const { text } of chunks) this.#builder.add({ id: this.#count++, text });
  }

  finish(): void {
    this.#index = this.#builder.build();
  }

  search(query: string): void {
    this.#index?.query((clauses) => {
      clauses.term(wordsOf(query), {}); // its own parser would take signs as operators
    });
  }

  bytes(): number {
    this.#json = JSON.stringify(this.#index);
    return Buffer.byteLength(this.#json);
  }

  load(): void {
    lunr.Index.load(JSON.parse(this.#json) as object);
  }
}

class MiniSearchPeer implements EnginePeer {
  readonly #index = new MiniSearch({ fields: ['text'] });
  #json = '';
  #count = 0;

  add(_path: string, chunks: readonly Chunk[]): void {
    this.#index.addAll(chunks.map(({ text }) => ({ id: this.#count++, text })));
  }

  finish(): void {}

  search(query: string): void {
    this.#index.search(wordsOf(query).join(' '));
  }

  bytes(): number {
    this.#json = JSON.stringify(this.#index);
    return Buffer.byteLength(this.#json);
  }

  load(): void {
    MiniSearch.loadJSON(this.#json, { fields: ['text'] });
  }
}

type FieldsOf = (chunk: Chunk, path: string) => readonly string[];

/** What our index gets: identifiers whole and in parts, in the text, the names of definitions and the path. */
const informedFields: FieldsOf = ({ text, symbols, scope }, path) =>
  [text, [...symbols, ...scope].join(' '), path].map((field) => codeTokens(field).join(' '));

/** Contentless, with positions, in one transaction of a file with a write-ahead log. */
class Fts5Peer implements EnginePeer {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #insert: ReturnType<DatabaseSync['prepare']>;
  readonly #fieldsOf: FieldsOf;
  #find: ReturnType<DatabaseSync['prepare']> | undefined;
  #count = 0;

  constructor(file: string, columns: readonly string[] = ['text'], fieldsOf: FieldsOf = ({ text }) => [text]) {
    this.#fieldsOf = fieldsOf;
    this.#file = file;
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    this.#database = new DatabaseSync(file);
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    this.#database.exec(`CREATE VIRTUAL TABLE chunks USING fts5(${columns.join(', ')}, content='')`);
    this.#insert = this.#database.prepare(
      `INSERT INTO chunks(rowid, ${columns.join(', ')}) VALUES (?${', ?'.repeat(columns.length)})`,
    );
    this.#database.exec('BEGIN');
  }

  add(path: string, chunks: readonly Chunk[]): void {
    for (const chunk of chunks) this.#insert.run(this.#count++, ...this.#fieldsOf(chunk, path));
  }

  finish(): void {
    this.#database.exec('COMMIT');
    this.#find = this.#database.prepare('SELECT rowid FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT ?');
  }

  search(query: string, limit: number): void {
    const words = wordsOf(query).map((word) => `"${word}"`);
    if (words.length > 0) this.#find?.all(words.join(' OR '), limit);
  }

  bytes(): number {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return statSync(this.#file).size;
  }
}

/** The peers with the most text that each indexes: more would take minutes or more memory than is available. */
export const ENGINE_PEERS: readonly {
  readonly name: string;
  readonly mostBytes: number;
  readonly open: (file: string) => EnginePeer;
}[] = [
  { name: 'lunr', mostBytes: 80e6, open: () => new LunrPeer() },
  { name: 'MiniSearch', mostBytes: 40e6, open: () => new MiniSearchPeer() },
  { name: 'FTS5', mostBytes: Infinity, open: (file) => new Fts5Peer(file) },
  {
    name: 'FTS5, informed',
    mostBytes: 80e6,
    open: (file) => new Fts5Peer(file, ['text', 'names', 'path'], informedFields),
  },
];

function wordsOf(text: string): string[] {
  const words: string[] = [];
  scanWords(text, (word) => words.push(word));
  return words;
}
