import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { CHUNK_BOUNDS, type Chunk, type ChunkBounds } from '../../src/retrieval/chunks/chunk.ts';
import { chunkText } from '../../src/retrieval/chunks/chunkText.ts';
import { decodeText } from '../../src/retrieval/chunks/documentText.ts';
import { type DocQuery, takeDocQueries } from './docQueries.ts';
import type { QuerySet } from './querySet.ts';

const MAX_QUERIES = 500;
const MAX_FILE_BYTES = 1_000_000;
const SKIPPED = new Set(['.git', 'node_modules', 'dist']);
const TEST_PATH = /(?:^|[/._-])(?:tests?|testing|testdata|specs?|examples?|__tests__)(?:[/._-]|$)/i;
// A function is found by a chunk that holds one of its first lines.
export const FIRST_LINES = 3;

/** A checkout without the comments that describe its functions, which are the questions. */
export interface Checkout {
  readonly name: string;
  readonly about: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly queries: readonly DocQuery[];
}

/**
 * Reads every text file of a folder and takes the comments of functions out of TypeScript, Python and Go. Functions of tests are
 * no answers, nor are those whose comment another function has too. The choice is the same in every run: evenly over the files.
 */
export function readCheckout(folder: string): Checkout {
  const files: { path: string; text: string }[] = [];
  const all: DocQuery[] = [];
  const times: number[] = [];
  let bytes = 0;
  for (const entry of globSync('**', { cwd: folder, withFileTypes: true, exclude: ({ name }) => SKIPPED.has(name) })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const { size, mtimeMs } = statSync(file);
    times.push(mtimeMs);
    const whole = size > MAX_FILE_BYTES ? undefined : decodeText(readFileSync(file));
    if (whole === undefined) continue;
    const path = file.slice(resolve(folder).length + 1).replaceAll(sep, '/');
    const { text, queries } = takeDocQueries(path, whole);
    bytes += Buffer.byteLength(text);
    files.push({ path, text });
    if (!TEST_PATH.test(path)) all.push(...queries);
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  all.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
  const twice = new Set(
    [...Map.groupBy(all, ({ query }) => query)].flatMap(([query, own]) => (own.length > 1 ? [query] : [])),
  );
  const unique = all.filter(({ query }) => !twice.has(query));
  const step = Math.max(1, unique.length / MAX_QUERIES);
  const queries = unique.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  // Unpacked from an archive most files have its date.
  const date = new Date(times.sort((a, b) => a - b)[times.length >> 1] ?? 0).toISOString().slice(0, 10);
  return {
    name: nameOf(folder),
    about: `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, of ${date}`,
    files,
    queries,
  };
}

function nameOf(folder: string): string {
  const path = relative('.', folder);
  return path.startsWith('..') ? basename(folder) : path;
}

/** The questions of a checkout over its chunks, cut as shipped or within other bounds. */
export function docstringSet({ name, about, files, queries }: Checkout, bounds: ChunkBounds = CHUNK_BOUNDS): QuerySet {
  const chunks: Chunk[] = [];
  const byPath = new Map<string, { readonly first: number; readonly own: readonly Chunk[] }>();
  for (const { path, text } of files) {
    const own = chunkText(text, path, 'smart', bounds);
    byPath.set(path, { first: chunks.length, own });
    chunks.push(...own);
  }
  const answered = queries.map(({ query, path, line }) => {
    const { first = 0, own = [] } = byPath.get(path) ?? {};
    const holds = ({ startLine, endLine }: Chunk): boolean => startLine < line + FIRST_LINES && endLine >= line;
    return { text: query, answers: [own.flatMap((chunk, at) => (holds(chunk) ? [first + at] : []))] };
  });
  return { name, about, chunks, queries: answered };
}
