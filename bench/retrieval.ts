// Search of code, against lunr, MiniSearch and SQLite's FTS5 as they come, on the same chunks in one process: build, query, load
// and size; `ranking.ts` measures what they find. The folders are those given, else sources that an install brings (openai,
// Apache-2.0; zod, MIT) and those of this repository. The queries are the comments of functions, which are taken out before.
import { join } from 'node:path';
import type { Chunk } from '../src/retrieval/chunk.ts';
import { docstringSet, readCheckout } from './ranking/docstrings.ts';
import { PEERS, type SearchPeer } from './support/searchPeers.ts';

const ROOT = join(import.meta.dirname, '..');
const DEFAULT_FOLDERS = ['src', 'node_modules/openai/src', 'node_modules/zod/src'].map((path) => join(ROOT, path));
const BUILDS = 3;
const TOP = 10;

interface Measured {
  readonly buildMs: number;
  readonly p50: number;
  readonly p95: number;
  readonly bytes: number | undefined;
  readonly loadMs: number | undefined;
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
  queries: readonly string[],
): Measured {
  let peer: SearchPeer | undefined;
  const builds = Array.from({ length: BUILDS }, () => cpuMilliseconds(() => (peer = open(chunks)))).sort(
    (a, b) => a - b,
  );
  const buildMs = quantile(builds, 0.5);
  if (peer === undefined) throw new Error('It was not opened.');
  const { search, save, load } = peer;
  for (const query of queries.slice(0, 50)) search(query, TOP);
  const times: number[] = [];
  for (const query of queries) {
    // The better of two: another process on the machine disturbs one of them.
    times.push(Math.min(...[1, 2].map(() => milliseconds(() => search(query, TOP)))));
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
  };
}

const folders = process.argv.length > 2 ? process.argv.slice(2) : DEFAULT_FOLDERS;
const sets = folders.map((folder) => docstringSet(readCheckout(folder)));
const chunks = sets.flatMap(({ chunks: own }) => own);
const queries = sets.flatMap(({ queries: own }) => own.map(({ text }) => text));
const bytes = chunks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
for (const { name, about } of sets) process.stdout.write(`retrieval: ${name}: ${about}\n`);
process.stdout.write(`retrieval: ${(bytes / 1e6).toFixed(1)} MB, ${chunks.length} chunks, ${queries.length} queries\n`);
const results = Object.entries(PEERS).map(([name, open]): [string, Measured] => {
  measure(open, chunks.slice(0, 200), queries.slice(0, 5)); // warm
  return [name, measure(open, chunks, queries)];
});
const [, ours] = results[0] ?? [];
if (ours === undefined) throw new Error('Nothing was measured.');
const ratio = (theirs: number | undefined, own: number | undefined): string =>
  theirs === undefined || own === undefined ? '-' : (theirs / own).toFixed(2);
for (const [name, { buildMs, p50, p95, bytes: size, loadMs }] of results) {
  process.stdout.write(
    `retrieval: ${name.padEnd(10)} | build ${buildMs.toFixed(0)} ms CPU | query p50 ${p50.toFixed(3)} p95 ${p95.toFixed(3)} ms | ` +
      `load ${loadMs?.toFixed(1) ?? '-'} ms | ${size === undefined ? '-' : (size / bytes).toFixed(2)} of the text\n`,
  );
}
for (const [name, peer] of results.slice(1)) {
  process.stdout.write(
    `retrieval: ${name} / farwharf | build ${ratio(peer.buildMs, ours.buildMs)} | p95 ${ratio(peer.p95, ours.p95)} | ` +
      `load ${ratio(peer.loadMs, ours.loadMs)} | size ${ratio(peer.bytes, ours.bytes)}\n`,
  );
}
