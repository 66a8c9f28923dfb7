// The search engine against lunr, MiniSearch and SQLite's FTS5 as they come, and against FTS5 with the same information (identifiers
// split, names and paths as fields), on the same chunks in one run: building, queries, opening, size and one changed file; then a whole folder on one processor and on all. The folders are those given, each by
// itself, else sources that an install brings (openai, Apache-2.0; zod, MIT) and those of this repository, together; four copies of
// these are then the whole folder, since in a smaller one a thread's start takes as long as what it does.
// How well the engine ranks is measured by `ranking`, meaning by `vectors`.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parseQuery } from '../src/retrieval/search/query.ts';
import { bundleProgram } from './support/bundledProgram.ts';
import { type CutFile, EngineCorpus } from './support/engineCorpus.ts';
import { ENGINE_PEERS, type EnginePeer, OurEngine } from './support/enginePeers.ts';
import { lanceLatencies } from './support/lancePeer.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const DEFAULT_FOLDERS = ['src', 'node_modules/openai/src', 'node_modules/zod/src'].map((path) => join(ROOT, path));
const COPIES = 4;
const QUERIES = 200;
// In a large folder a peer takes up to a second for each.
const FEW_QUERIES = 60;
const TOP = 10;
const WARM_BYTES = 3e6;
// Of a small folder the median of several is taken.
const ONE_BUILD_BYTES = 50e6;
const BUILDS = 5;
const TASKSET = '/usr/bin/taskset';

interface BenchInput {
  readonly corpus: EngineCorpus;
  /** What was read of a small one. */
  readonly cached: readonly CutFile[] | undefined;
}

interface Measured {
  /** Of the first build in this process, before its code is optimised. */
  readonly firstMs: number | undefined;
  readonly buildMs: number;
  readonly p50: number;
  readonly p95: number;
  readonly bytes: number;
  readonly loadMs: number | undefined;
}

const say = (line: string): void => void process.stdout.write(`retrieval: ${line}\n`);
const median = (values: number[]): number => quantile(values, 0.5);

function quantile(values: number[], part: number): number {
  const sorted = values.sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
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

/**
 * The files of a corpus, of a small one as they were read before: the threads that optimise the reading and cutting are at work while
 * that continues, and whichever engine is measured first would be charged for it.
 */
function* filesOf({ corpus, cached }: BenchInput, mostBytes = Infinity): Generator<CutFile, void> {
  if (cached === undefined) {
    yield* corpus.read(mostBytes);
    return;
  }
  let bytes = 0;
  for (const file of cached) {
    if (bytes >= mostBytes) return;
    for (const { text } of file.chunks) bytes += text.length;
    yield file;
  }
}

/** Builds an index of a corpus; the reading and cutting of files does not count. */
function build(given: BenchInput, open: () => EnginePeer, mostBytes?: number): { peer: EnginePeer; ms: number } {
  const peer = open();
  const files = filesOf(given, mostBytes);
  if (given.cached !== undefined) {
    const addAll = (): void => {
      for (const { path, chunks } of files) peer.add(path, chunks);
      peer.finish();
    };
    return { peer, ms: cpuMilliseconds(addAll) };
  }
  let ms = 0;
  for (const { path, chunks } of files) ms += cpuMilliseconds(() => peer.add(path, chunks));
  ms += cpuMilliseconds(() => peer.finish());
  return { peer, ms };
}

function queriesOf(corpus: EngineCorpus): readonly string[] {
  return corpus.queries(corpus.bytes < ONE_BUILD_BYTES ? QUERIES : FEW_QUERIES);
}

function latencies(queries: readonly string[], search: (query: string) => void): number[] {
  for (const query of queries.slice(0, 20)) search(query);
  // The best of three: another process on the machine disturbs one of them.
  return queries.map((query) => Math.min(...[1, 2, 3].map(() => milliseconds(() => search(query)))));
}

function measure(given: BenchInput, open: () => EnginePeer): { peer: EnginePeer; measured: Measured } {
  const { corpus, cached } = given;
  // Its code is optimised meanwhile; that time is printed for a small folder, where it is a large part.
  const first = build(given, open, cached === undefined ? WARM_BYTES : undefined);
  let { peer, ms } = build(given, open);
  if (cached !== undefined) {
    const times = [ms];
    while (times.length < BUILDS) {
      ({ peer, ms } = build(given, open));
      times.push(ms);
    }
    ms = median(times);
  }
  const times = latencies(queriesOf(corpus), (query) => peer.search(query, TOP));
  const bytes = peer.bytes();
  const { load } = peer;
  const loadMs = load === undefined ? undefined : Math.min(...[1, 2, 3].map(() => milliseconds(() => load.call(peer))));
  const firstMs = cached === undefined ? undefined : first.ms;
  return {
    peer,
    measured: { firstMs, buildMs: ms, p50: quantile(times, 0.5), p95: quantile(times, 0.95), bytes, loadMs },
  };
}

function printMeasured(
  name: string,
  { firstMs, buildMs, p50, p95, bytes, loadMs }: Measured,
  corpus: EngineCorpus,
): void {
  say(
    `${name.padEnd(14)} | build ${buildMs.toFixed(0)} ms CPU (${(corpus.bytes / 1000 / buildMs).toFixed(1)} MB/s` +
      `${firstMs === undefined ? '' : `; the first one ${firstMs.toFixed(0)} ms`}) | ` +
      `query p50 ${p50.toFixed(3)} p95 ${p95.toFixed(3)} ms | open ${loadMs?.toFixed(1) ?? '-'} ms | ` +
      `${(bytes / corpus.bytes).toFixed(3)} of the text`,
  );
}

async function compare(corpus: EngineCorpus): Promise<void> {
  const given = { corpus, cached: corpus.size < ONE_BUILD_BYTES ? [...corpus.read()] : undefined };
  const { peer, measured: ours } = measure(given, () => new OurEngine(join(scratch, 'ours')));
  const { bytes } = corpus;
  say(`${(corpus.bytes / 1e6).toFixed(1)} MB in ${corpus.files.length} files, ${corpus.chunks} chunks`);
  printMeasured('farwharf', ours, corpus);
  if (peer instanceof OurEngine) printMore(peer, given);
  for (const { name, mostBytes, open } of ENGINE_PEERS) {
    if (bytes > mostBytes) {
      say(`${name} is left out: so much text takes it minutes, or more memory than there is`);
      continue;
    }
    const { measured } = measure(given, () => open(join(scratch, 'peer')));
    printMeasured(name, measured, corpus);
    const opens = measured.loadMs === undefined ? '-' : (measured.loadMs / (ours.loadMs ?? 1)).toFixed(0);
    say(
      `${name} / farwharf: build ${(measured.buildMs / ours.buildMs).toFixed(2)}, query p95 ${(measured.p95 / ours.p95).toFixed(1)}, ` +
        `open ${opens}; farwharf's size is ${(ours.bytes / measured.bytes).toFixed(2)} of ${name}'s`,
    );
  }
  await compareLance(corpus, ours.p95);
}

async function compareLance(corpus: EngineCorpus, p95: number): Promise<void> {
  const times = await lanceLatencies(corpus, queriesOf(corpus), join(scratch, 'lance'));
  if (times === undefined) {
    say('NOT MEASURED: LanceDB, 186 MB; to have it: npm install --no-save @lancedb/lancedb@0.37.1 apache-arrow');
    return;
  }
  const theirs = quantile(times, 0.95);
  say(
    `LanceDB: query p50 ${quantile(times, 0.5).toFixed(3)} p95 ${theirs.toFixed(3)} ms; LanceDB / farwharf: query p95 ${(theirs / p95).toFixed(1)}`,
  );
}

/** What the peers are not asked for. */
function printMore(engine: OurEngine, given: BenchInput): void {
  const queries = queriesOf(given.corpus);
  const typed = latencies(queries, (query) =>
    engine.find(parseQuery(query.slice(0, 4 + (query.length % 20)), { isTyping: true }), TOP),
  );
  const filtered = latencies(queries, (query) => engine.find(parseQuery(`path:s ${query}`), TOP));
  say(
    `farwharf, query p95: prefixes ${quantile(typed, 0.95).toFixed(3)} ms, with path: ${quantile(filtered, 0.95).toFixed(3)} ms`,
  );
  const changed = filesOf(given, 1).next();
  if (changed.done === true) return;
  const { path, chunks } = changed.value;
  const updates = Array.from({ length: 200 }, () => milliseconds(() => engine.update(path, chunks)));
  say(`farwharf: one changed file of ${chunks.length} chunks in the index: ${median(updates).toFixed(3)} ms`);
}

interface IndexedOnce {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly files: number;
  readonly bytes: number;
  readonly openMs: number;
  readonly searchMs: Readonly<Record<'first' | 'again', { readonly p50: number; readonly p95: number }>>;
  readonly savedMs: number;
}

async function indexOnce(folder: string, worker: string, processor?: number): Promise<IndexedOnce> {
  const program = [process.execPath, join(import.meta.dirname, 'support/indexOnce.ts'), folder, worker];
  const [command = '', ...args] = processor === undefined ? program : [TASKSET, '-c', String(processor), ...program];
  const { stdout } = await run(command, args);
  return JSON.parse(stdout) as IndexedOnce;
}

async function measureFolder(folder: string): Promise<void> {
  const worker = await bundleProgram(join(ROOT, 'src/retrieval/index/indexWorker.ts'), scratch);
  const all = await indexOnce(folder, worker);
  say(
    `the whole of ${folder}: ${all.files} files read, cut and indexed in ${all.wallMs.toFixed(0)} ms, ` +
      `${(all.bytes / 1e6).toFixed(1)} MB on disk, ` +
      `opened in ${all.openMs.toFixed(1)} ms; a saved file found and written after ${all.savedMs.toFixed(2)} ms`,
  );
  const { first, again } = all.searchMs;
  say(
    `a search of it with the texts of ten results: p50 ${first.p50.toFixed(2)} p95 ${first.p95.toFixed(2)} ms, ` +
      `of the same again p50 ${again.p50.toFixed(2)} p95 ${again.p95.toFixed(2)} ms`,
  );
  if (!existsSync(TASKSET) || availableParallelism() < 2) {
    say('NOT MEASURED: several processors against one, which needs taskset and two processors');
    return;
  }
  const one = await indexOnce(folder, worker, 0);
  say(
    `${availableParallelism()} processors are ${(one.wallMs / all.wallMs).toFixed(2)} times as fast as one, ` +
      `for ${(all.cpuMs / one.cpuMs).toFixed(2)} times the processor time`,
  );
  const both = await Promise.all([0, 1].map((processor) => indexOnce(folder, worker, processor)));
  const ceiling = (2 * one.wallMs) / Math.max(...both.map(({ wallMs }) => wallMs));
  say(`two processes that share nothing, on a processor each, do ${ceiling.toFixed(2)} times the work of one`);
}

/** A folder with copies of several. */
function copiesOf(folders: readonly string[]): string {
  const root = join(scratch, 'copies');
  for (let copy = 0; copy < COPIES; copy += 1) {
    for (const [index, folder] of folders.entries())
      cpSync(folder, join(root, `${copy}.${index}`), { recursive: true });
  }
  return root;
}

const folders = process.argv.slice(2).map((folder) => resolve(folder));
const corpora = folders.length > 0 ? folders.map((folder) => [folder]) : [DEFAULT_FOLDERS];
const scratch = mkdtempSync(join(tmpdir(), 'farwharf-bench-engine-'));
try {
  for (const folders of corpora) {
    await compare(new EngineCorpus(folders));
    const [folder = ''] = folders;
    await measureFolder(folders.length === 1 ? folder : copiesOf(folders));
  }
} finally {
  rmSync(scratch, { recursive: true });
}
