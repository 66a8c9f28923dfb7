// The nearest of many vectors: 8-bit rows in WebAssembly's SIMD with the best ones looked at exactly, as search uses them,
// against plain Float32Array loops that try all, and against usearch and sqlite-vec where those are installed. The vectors are
// generated, around centres as those of texts are; how many, and of how many numbers, may be given: `vectors.ts 100000 384`.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VectorStore } from '../src/retrieval/semantic/vectorStore.ts';
import { QuantizedRows } from '../src/retrieval/semantic/quantizedRows.ts';
import { randomFrom } from '../test/random.ts';
import { openVectorPeers } from './support/vectorPeers.ts';

const [COUNT = 100_000, DIMENSIONS = 384] = process.argv.slice(2).map(Number);
const QUERIES = 200;
const TOP = 10;
const CENTRES = 500;

const random = randomFrom(1);
const noise = (): number => random() + random() + random() - 1.5; // about normal
const centres = Array.from({ length: CENTRES }, () => Float32Array.from({ length: DIMENSIONS }, noise));

function around(at: number): Float32Array {
  const vector = (centres[at % CENTRES] ?? new Float32Array(DIMENSIONS)).map((value) => value + noise());
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

const quantile = (sorted: readonly number[], part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
const keyOf = (row: number): string => row.toString(16).padStart(32, '0');

interface Measured {
  readonly name: string;
  readonly p50: number;
  readonly p95: number;
  readonly recall: number;
  readonly note: string;
}

/** The nearest by trying all with the exact numbers, in one typed array. */
function plainSearch(all: Float32Array, query: Float32Array): number[] {
  const best: { row: number; score: number }[] = [];
  for (let row = 0, at = 0; row < COUNT; row += 1) {
    let score = 0;
    for (let column = 0; column < DIMENSIONS; column += 1) score += (query[column] ?? 0) * (all[at++] ?? 0);
    if (best.length === TOP && score <= (best[TOP - 1]?.score ?? 0)) continue;
    best.push({ row, score });
    best.sort((a, b) => b.score - a.score);
    best.length = Math.min(best.length, TOP);
  }
  return best.map(({ row }) => row);
}

const folder = mkdtempSync(join(tmpdir(), 'farwharf-bench-vectors-'));
try {
  const vectors = Array.from({ length: COUNT }, (_, at) => around(at));
  const queries = Array.from({ length: QUERIES }, (_, at) => around(at * 7));
  const all = new Float32Array(COUNT * DIMENSIONS);
  for (const [row, vector] of vectors.entries()) all.set(vector, row * DIMENSIONS);
  const truth: number[][] = [];

  const measure = (name: string, search: (query: Float32Array) => readonly number[], note: string): Measured => {
    for (const query of queries.slice(0, 20)) search(query);
    const times: number[] = [];
    let found = 0;
    for (const [at, query] of queries.entries()) {
      let rows: readonly number[] = [];
      // The best of three: another process on the machine disturbs the others.
      const tries = [1, 2, 3].map(() => {
        const started = performance.now();
        rows = search(query);
        return performance.now() - started;
      });
      times.push(Math.min(...tries));
      truth[at] ??= [...rows];
      found += (truth[at] ?? []).filter((row) => rows.includes(row)).length;
    }
    times.sort((a, b) => a - b);
    const measured = {
      name,
      p50: quantile(times, 0.5),
      p95: quantile(times, 0.95),
      recall: found / QUERIES / TOP,
      note,
    };
    const { p50, p95, recall } = measured;
    process.stdout.write(
      `vectors: ${name.padEnd(26)} | p50 ${p50.toFixed(2)} p95 ${p95.toFixed(2)} ms | recall@${TOP} ${recall.toFixed(4)} | ${note}\n`,
    );
    return measured;
  };
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

  process.stdout.write(`vectors: ${COUNT.toLocaleString('en-US')} x ${DIMENSIONS}, ${QUERIES} queries\n`);
  const plain = measure('plain Float32Array', (query) => plainSearch(all, query), megabytes(all.byteLength));

  const store = await VectorStore.open(folder, 'bench');
  let started = performance.now();
  for (let from = 0; from < COUNT; from += 64) {
    const batch = vectors.slice(from, from + 64).map((vector, index) => ({ key: keyOf(from + index), vector }));
    await store.add(batch);
  }
  await store.flush();
  const wrote = performance.now() - started;
  store.dispose();
  (await VectorStore.open(folder, 'bench')).dispose(); // joins the small files
  started = performance.now();
  const opened = await VectorStore.open(folder, 'bench');
  const openMs = performance.now() - started;
  const disk = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const ours = measure(
    'farwharf',
    (query) => opened.nearest(query, TOP).map(({ key }) => Number.parseInt(key, 16)),
    `${megabytes(COUNT * DIMENSIONS)} in memory, ${megabytes(disk)} on disk, added in ${(wrote / 1000).toFixed(1)} s, opened in ${openMs.toFixed(0)} ms`,
  );
  opened.dispose();

  for (const [name, simd] of [
    ['SIMD without exact look', true],
    ['farwharf without SIMD', false],
  ] as const) {
    const rows = new QuantizedRows(DIMENSIONS, { simd });
    rows.add(vectors);
    measure(name, (query) => rows.nearest(query, TOP, () => true).rows.map(({ row }) => row), '');
  }

  const { peers, missing } = openVectorPeers(createRequire(import.meta.url), vectors);
  const others = peers.map(({ name, search, note }) => measure(name, (query) => search(query, TOP), note));
  for (const name of missing) process.stdout.write(`vectors: NOT MEASURED: ${name} is not installed here\n`);
  for (const { name, p50, p95 } of [plain, ...others]) {
    process.stdout.write(
      `vectors: ${name} / farwharf | p50 ${(p50 / ours.p50).toFixed(2)} | p95 ${(p95 / ours.p95).toFixed(2)}\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
