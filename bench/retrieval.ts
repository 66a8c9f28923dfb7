// Search of code, against lunr, MiniSearch and SQLite's FTS5 as they come, on the same chunks in one process: build, query,
// load, size, and how well a comment finds the function that it described. The folders are those given, else sources that an
// install brings (openai, Apache-2.0; zod, MIT) and those of this repository. The comments are taken out before indexing.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Chunk } from '../src/retrieval/chunk.ts';
import { chunkText } from '../src/retrieval/chunkText.ts';
import { type DocQuery, takeDocQueries } from './ranking/docQueries.ts';
import { PEERS, type SearchPeer } from './support/searchPeers.ts';

const ROOT = join(import.meta.dirname, '..');
const DEFAULT_FOLDERS = ['src', 'node_modules/openai/src', 'node_modules/zod/src'].map((path) => join(ROOT, path));
const MAX_QUERIES = 400;
const BUILDS = 3;
const TOP = 10;
const REACH_CHARACTERS = 8000;
const MAX_FILE_CHARACTERS = 1_000_000;

interface Measured {
  readonly buildMs: number;
  readonly p50: number;
  readonly p95: number;
  readonly bytes: number | undefined;
  readonly loadMs: number | undefined;
  readonly mrr: number;
  readonly recall: number;
}

function readCorpus(folders: readonly string[]): {
  readonly chunks: Chunk[];
  readonly queries: DocQuery[];
  readonly bytes: number;
} {
  const chunks: Chunk[] = [];
  const queries: DocQuery[] = [];
  let bytes = 0;
  for (const folder of folders) {
    for (const name of globSync('**/*.{ts,py}', { cwd: folder }).sort()) {
      const path = `${relative(ROOT, folder)}/${name}`;
      const whole = readFileSync(join(folder, name), 'utf8');
      if (whole.length > MAX_FILE_CHARACTERS) continue;
      const taken = takeDocQueries(path, whole);
      bytes += Buffer.byteLength(taken.text);
      chunks.push(...chunkText(taken.text, path, 'smart'));
      queries.push(...taken.queries);
    }
  }
  // Evenly over the files, the same in every run.
  const step = Math.max(1, queries.length / MAX_QUERIES);
  const chosen = Array.from(
    { length: Math.min(queries.length, MAX_QUERIES) },
    (_, at) => queries[Math.floor(at * step)],
  );
  return { chunks, queries: chosen.filter((query) => query !== undefined), bytes };
}

function milliseconds(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** Of this thread and those that collect its garbage: other processes take none of it. */
function cpuMilliseconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.floor(sorted.length * part)] ?? Number.NaN;

function measure(
  open: (chunks: readonly Chunk[]) => SearchPeer,
  chunks: readonly Chunk[],
  queries: readonly DocQuery[],
): Measured {
  let peer: SearchPeer | undefined;
  const builds = Array.from({ length: BUILDS }, () => cpuMilliseconds(() => (peer = open(chunks)))).sort(
    (a, b) => a - b,
  );
  const buildMs = quantile(builds, 0.5);
  if (peer === undefined) throw new Error('It was not opened.');
  const { search, save, load } = peer;
  for (const { query } of queries.slice(0, 50)) search(query, TOP);
  const times: number[] = [];
  let [mrr, recall] = [0, 0];
  for (const query of queries) {
    let found: readonly number[] = [];
    // The better of two: another process on the machine disturbs one of them.
    times.push(Math.min(...[1, 2].map(() => milliseconds(() => (found = search(query.query, TOP))))));
    const rank = found.findIndex((id) => isAnswer(chunks[id], query));
    if (rank >= 0) mrr += 1 / (rank + 1);
    if (isWithinReach(search(query.query, 40), chunks, query)) recall += 1;
  }
  times.sort((a, b) => a - b);
  const saved = save?.();
  const loadMs =
    saved === undefined || load === undefined
      ? undefined
      : Math.min(...[1, 2, 3].map(() => milliseconds(() => load(saved))));
  const bytes = saved === undefined ? undefined : Buffer.byteLength(saved);
  return {
    buildMs,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    bytes,
    loadMs,
    mrr: mrr / queries.length,
    recall: recall / queries.length,
  };
}

function isAnswer(chunk: Chunk | undefined, { path, line }: DocQuery): boolean {
  return chunk !== undefined && chunk.source === path && chunk.startLine <= line + 2 && chunk.endLine >= line;
}

function isWithinReach(found: readonly number[], chunks: readonly Chunk[], query: DocQuery): boolean {
  let characters = 0;
  for (const id of found) {
    characters += chunks[id]?.text.length ?? 0;
    if (characters > REACH_CHARACTERS) return false;
    if (isAnswer(chunks[id], query)) return true;
  }
  return false;
}

const folders = process.argv.length > 2 ? process.argv.slice(2) : DEFAULT_FOLDERS;
const { chunks, queries, bytes } = readCorpus(folders);
process.stdout.write(`retrieval: ${(bytes / 1e6).toFixed(1)} MB, ${chunks.length} chunks, ${queries.length} queries\n`);
const results = Object.entries(PEERS).map(([name, open]): [string, Measured] => {
  measure(open, chunks.slice(0, 200), queries.slice(0, 5)); // warm
  return [name, measure(open, chunks, queries)];
});
const [, ours] = results[0] ?? [];
if (ours === undefined) throw new Error('Nothing was measured.');
const ratio = (theirs: number | undefined, own: number | undefined): string =>
  theirs === undefined || own === undefined ? '-' : (theirs / own).toFixed(2);
for (const [name, { buildMs, p50, p95, bytes: size, loadMs, mrr, recall }] of results) {
  process.stdout.write(
    `retrieval: ${name.padEnd(10)} | build ${buildMs.toFixed(0)} ms CPU | query p50 ${p50.toFixed(3)} p95 ${p95.toFixed(3)} ms | ` +
      `load ${loadMs?.toFixed(1) ?? '-'} ms | ${size === undefined ? '-' : (size / bytes).toFixed(2)} of the text | ` +
      `MRR@10 ${mrr.toFixed(3)} | recall in 8,000 characters ${recall.toFixed(3)}\n`,
  );
}
for (const [name, peer] of results.slice(1)) {
  process.stdout.write(
    `retrieval: ${name} / farwharf | build ${ratio(peer.buildMs, ours.buildMs)} | p95 ${ratio(peer.p95, ours.p95)} | ` +
      `load ${ratio(peer.loadMs, ours.loadMs)} | size ${ratio(peer.bytes, ours.bytes)} | MRR ours / theirs ${ratio(ours.mrr, peer.mrr)}\n`,
  );
}
