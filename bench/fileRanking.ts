// Whether a folder's search finds the files that answer questions: NDCG@10 over labelled repositories in the format of the Semble
// benchmark, by category and language, beside peers on the same chunks that get the same information; and how many tokens a language
// model must read. The argument is a folder as `readLabelled` describes; it is not shipped. `--whole` searches whole checkouts, instead
// of the part that the benchmark names; `--misses` lists the questions that are not answered perfectly;
// `--model FOLDER` measures semantic ranking too, with the sentence model in that folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { searchWithin } from '../src/retrieval/index/tokenBudget.ts';
import { readCommits } from '../src/workspace/git/commitLog.ts';
import { interval } from './ranking/bootstrap.ts';
import { type FindPlaces, firstOfFiles, openFilePeers } from './ranking/filePeers.ts';
import { indexFolder } from './ranking/indexedFolder.ts';
import { openNearChunks } from './ranking/nearChunks.ts';
import { type LabelledQuery, type Location, ndcg, readLabelled, recall } from './ranking/labelledSet.ts';

const LIMIT = 10;
// A file has many chunks.
const DEPTH = 200;
const BUDGETS = [500, 1000, 2000, 4000, 8000];
const HISTORY_OPTIONS = { signal: new AbortController().signal, isStored: false };
const OURS = 'farwharf';
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { whole: { type: 'boolean' }, misses: { type: 'boolean' }, model: { type: 'string' } },
});
const home = mkdtempSync(join(tmpdir(), 'farwharf-bench-ranking-'));

interface Scored {
  readonly engine: string;
  readonly repository: string;
  readonly language: string;
  readonly category: string;
  readonly score: number;
}

try {
  const scored: Scored[] = [];
  const recalls = BUDGETS.map((): number[] => []);
  for (const { name: repository, language, checkout, root, queries } of readLabelled(positionals[0] ?? '.')) {
    if (queries.length === 0) continue;
    const searched = values.whole === true ? '.' : root;
    const folder = join(checkout, searched);
    const inCheckout = (places: readonly Location[]): readonly Location[] =>
      places.map((place) => ({ ...place, path: posix.join(searched, place.path) }));
    using index = await indexFolder(folder, home);
    const measure = async (engine: string, find: FindPlaces): Promise<void> => {
      for (const { query, category, targets } of queries) {
        const found = inCheckout(await find(query));
        const score = ndcg(found, targets);
        scored.push({ engine, repository, language, category, score });
        if (values.misses === true && engine === OURS && score < 1)
          printMiss({ query, category, targets }, found, score);
      }
    };
    await measure('farwharf, chunks', async (query) =>
      firstOfFiles(await index.search(query, DEPTH, { isByPlace: true }), LIMIT),
    );
    await measure('farwharf, no commits', (query) => index.search(query, LIMIT));
    await index.history.update(readCommits, HISTORY_OPTIONS);
    await measure(OURS, (query) => index.search(query, LIMIT));
    if (values.model !== undefined) {
      const near = await openNearChunks(index, { model: values.model, root: folder, home });
      await measure('farwharf, model', async (query) => index.search(query, LIMIT, { near: await near(query) }));
    }
    for (const [engine, find] of openFilePeers(index, LIMIT)) await measure(engine, find);
    for (const [at, maxTokens] of BUDGETS.entries()) {
      for (const { query, targets } of queries) {
        recalls[at]?.push(recall(inCheckout(await searchWithin(index, query, { maxTokens })), targets));
      }
    }
  }
  for (const key of ['category', 'language', 'repository'] as const) {
    print(`\n${key}`);
    for (const [value, own] of Map.groupBy(scored, (one) => one[key])) printEngines(value, own);
  }
  print('');
  printEngines('all', scored);
  const shares = BUDGETS.map((budget, at) => `${budget} tokens ${interval(recalls[at] ?? []).mean.toFixed(3)}`);
  print(`\nrecall of the answers' files within a budget: ${shares.join(', ')}`);
} finally {
  rmSync(home, { recursive: true });
}

function printEngines(title: string, scored: readonly Scored[]): void {
  const engines = [...Map.groupBy(scored, ({ engine }) => engine)].map(([engine, own]) => {
    const { mean, low, high } = interval(own.map(({ score }) => score));
    return `${engine} ${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
  });
  const count = scored.filter(({ engine }) => engine === OURS).length;
  print(`${`${title} (${count})`.padEnd(20)}${engines.join('  ')}`);
}

function printMiss({ query, category, targets }: LabelledQuery, found: readonly Location[], score: number): void {
  print(`  ${score.toFixed(2)} ${category} ${query} -> ${targets.map(({ path }) => path).join(' ')}`);
  for (const { path, startLine } of found.slice(0, 4)) print(`        ${path}:${startLine}`);
}
