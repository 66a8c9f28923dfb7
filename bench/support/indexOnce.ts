// Indexes a folder as the extension does, in a process of its own whose threads run the program that is given, opens the index
// again, searches it and changes a file; prints the figures as JSON.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Index } from '../../src/retrieval/index/index.ts';
import { EngineCorpus } from './engineCorpus.ts';

const UPDATES = 21;
const QUERIES = 200;
const TOP = 10;
const READ_FOR_QUERIES = 30e6;
const [root = '.', workerProgram = ''] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'farwharf-bench-index-'));
const corpus = new EngineCorpus([root]);
const files = corpus.files.map(({ path }) => {
  const { size, mtimeMs } = statSync(join(root, path));
  return { path, size, mtimeMs };
});

try {
  const started = performance.now();
  const before = process.cpuUsage();
  const index = await Index.open({ root, home, workerProgram });
  await index.sync(files);
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1000;
  const { files: count, chunks } = index.stats;
  const { bytes } = index;
  index[Symbol.dispose]();

  const opening = performance.now();
  using again = await Index.open({ root, home, workerProgram });
  const openMs = performance.now() - opening;
  const queries = readQueries();
  const searchMs = { first: await search(again, queries), again: await search(again, queries) };
  const savedMs = await changeFiles(again);
  process.stdout.write(JSON.stringify({ wallMs, cpuMs, files: count, chunks, bytes, openMs, searchMs, savedMs }));
} finally {
  rmSync(home, { recursive: true });
}

function readQueries(): readonly string[] {
  const reading = corpus.read(READ_FOR_QUERIES);
  while (reading.next().done !== true);
  return corpus.queries(QUERIES);
}

/** The latencies of searches with the texts of their results. */
async function search(index: Index, queries: readonly string[]): Promise<{ p50: number; p95: number }> {
  const times: number[] = [];
  for (const query of queries) {
    const started = performance.now();
    await index.search(query, TOP);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return { p50: times[times.length >> 1] ?? 0, p95: times[Math.floor(times.length * 0.95)] ?? 0 };
}

/** From a save until it is found and written, in milliseconds; of a file that exists only for this. */
async function changeFiles(index: Index): Promise<number> {
  const path = `farwharf-bench-${process.pid}.txt`;
  const text = 'some words of a file that was changed, for long enough\n'.repeat(100);
  const times: number[] = [];
  try {
    for (let update = 0; update < UPDATES; update += 1) {
      writeFileSync(join(root, path), `${text}${update}\n`);
      const started = performance.now();
      await index.update([path]);
      times.push(performance.now() - started);
    }
  } finally {
    rmSync(join(root, path), { force: true });
  }
  return times.sort((a, b) => a - b)[Math.floor(UPDATES / 2)] ?? 0;
}
