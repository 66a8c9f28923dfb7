// The index of an open folder while its files change, against SQLite's FTS5 with the same chunks on disk: one saved file, from
// the notice to the moment when a search finds it and when it is stored; a checkout of many files; opening what was stored. The
// folder is a copy of the argument, or of the sources that an install brings, several times, until it has 6,000 files.
import { cpSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunkText } from '../src/retrieval/chunks/chunkText.ts';
import { Index } from '../src/retrieval/index/index.ts';
import { IndexServer } from '../src/retrieval/server/indexServer.ts';
import { inspectSearchable, selectSearchable } from '../src/workspace/select/searchableFiles.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = { own: 'src', tests: 'test', openai: 'node_modules/openai/src', zod: 'node_modules/zod/src' };
const LEAST_FILES = 6000;
const CHECKOUT_FILES = 5000;
const SAVES = 60;
const WORKER = join(ROOT, 'src/retrieval/index/indexWorker.ts');
const base = mkdtempSync(join(tmpdir(), 'farwharf-keeping-up-'));
const folder = join(base, 'folder');
const home = join(base, 'home');

function copySources(source: string | undefined): void {
  if (source !== undefined) {
    cpSync(source, folder, { recursive: true });
    return;
  }
  for (let copy = 0; copy === 0 || globSync('**/*.ts', { cwd: folder }).length < LEAST_FILES; copy += 1) {
    for (const [name, source] of Object.entries(SOURCES)) {
      cpSync(join(ROOT, source), join(folder, `copy${copy}`, name), { recursive: true });
    }
  }
}

const middle = (times: readonly number[], part = 0.5): string =>
  (times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN).toFixed(2);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** One file's chunks, taken out of a table of FTS5 and put into it again, in one transaction. */
function openFts(files: readonly string[]): (path: string) => void {
  const database = new DatabaseSync(join(base, 'fts.db'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE VIRTUAL TABLE chunk USING fts5(text, path UNINDEXED); CREATE TABLE location (path TEXT, id INTEGER);
    CREATE INDEX byPath ON location (path);`);
  const insert = database.prepare('INSERT INTO chunk (text, path) VALUES (?, ?)');
  const remember = database.prepare('INSERT INTO location VALUES (?, ?)');
  const remove = database.prepare('DELETE FROM chunk WHERE rowid IN (SELECT id FROM location WHERE path = ?)');
  const forget = database.prepare('DELETE FROM location WHERE path = ?');
  const put = (path: string): void => {
    for (const { text } of chunkText(readFileSync(join(folder, path), 'utf8'), path, 'smart')) {
      remember.run(path, insert.run(text, path).lastInsertRowid);
    }
  };
  database.exec('BEGIN');
  for (const path of files) put(path);
  database.exec('COMMIT');
  return (path) => {
    database.exec('BEGIN');
    remove.run(path);
    forget.run(path);
    put(path);
    database.exec('COMMIT');
  };
}

copySources(process.argv[2]);
const { files } = await selectSearchable(folder, { isTrusted: false });
const code = files.filter(({ path, size }) => /\.(?:[ch]|go|py|ts)$/.test(path) && size < 200_000);
const saved = code.filter(({ size }) => size > 4_000 && size < 16_000).slice(0, SAVES);
const bytes = files.reduce((sum, { size }) => sum + size, 0);
process.stdout.write(`keepingUp: ${files.length} files, ${(bytes / 1e6).toFixed(0)} MB\n`);

const live = new IndexServer({
  home,
  workerProgram: WORKER,
  selector: { select: selectSearchable, inspect: inspectSearchable },
});
await live.open([{ path: folder, isTrusted: false }]);
await live.settle();
const append = (path: string, text: string): void => {
  const file = join(folder, path);
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n// ${text}\n`);
};
const [found, toStored]: [number[], number[]] = [[], []];
for (const [at, { path }] of saved.entries()) {
  const word = `saved${String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26), 113)}`;
  append(path, word);
  const started = performance.now();
  await live.notify([{ type: 'changed', path: join(folder, path) }]);
  while ((await live.searchFolders(word, { limit: 1 })).length === 0) await sleep(1);
  found.push(performance.now() - started);
  await live.settle();
  toStored.push(performance.now() - started);
}
const changed = code.slice(0, CHECKOUT_FILES);
for (const { path } of changed) append(path, 'checkedout');
const checkout = await timed(async () => {
  await live.notify(changed.map(({ path }) => ({ type: 'changed', path: join(folder, path) })));
  await live.settle();
});
const [top = ''] = saved[0]?.path.split('/') ?? [];
const inside = files.filter(({ path }) => path.startsWith(`${top}/`)).length;
renameSync(join(folder, top), join(folder, 'renamed'));
const rename = await timed(async () => {
  await live.notify([{ type: 'renamed', from: join(folder, top), path: join(folder, 'renamed') }]);
  await live.settle();
});
renameSync(join(folder, 'renamed'), join(folder, top));
await live.notify([{ type: 'renamed', from: join(folder, 'renamed'), path: join(folder, top) }]);
await live.settle();
live.dispose();

const update = openFts(code.map(({ path }) => path));
const openMs = await timed(async () => (await Index.open({ root: folder, home }))[Symbol.dispose]());
const index = await Index.open({ root: folder, home, workerProgram: WORKER });
const [own, fts]: [number[], number[]] = [[], []];
for (const { path } of saved) {
  append(path, 'again');
  const before = performance.now();
  const writing = index.update([path]);
  own.push(performance.now() - before);
  await writing;
  const started = performance.now();
  update(path);
  fts.push(performance.now() - started);
}
const stored = index.bytes;
index[Symbol.dispose]();
const ratio = Number(middle(fts)) / Number(middle(own));
const print = (line: string): void => void process.stdout.write(`keepingUp: ${line}\n`);
print(
  `one changed file in the index p50 ${middle(own)} p95 ${middle(own, 0.95)} ms | fts5 ${middle(fts)} ms | ${ratio.toFixed(1)} times`,
);
print(
  `from the notice to found p50 ${middle(found)} p95 ${middle(found, 0.95)} ms | stored p50 ${middle(toStored)} ms`,
);
print(
  `checkout of ${changed.length} files ${(checkout / 1000).toFixed(2)} s | rename of a folder of ${inside} files ${(rename / 1000).toFixed(2)} s`,
);
print(
  `open ${openMs.toFixed(0)} ms | on disk ${(stored / bytes).toFixed(2)} of the text, fts5 ${(statSync(join(base, 'fts.db')).size / bytes).toFixed(2)}`,
);
rmSync(base, { recursive: true, force: true });
