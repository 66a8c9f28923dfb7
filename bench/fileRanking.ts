// Whether a folder's search finds the files that answer questions: NDCG@10 over labelled repositories in the format of the Semble
// benchmark. The argument is a folder as `readLabelled` describes; it is not shipped. `--whole` searches whole checkouts, instead of
// the part that the benchmark names; `--no-history` does without past commits.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readCommits } from '../src/workspace/git/commitLog.ts';
import { interval } from './ranking/bootstrap.ts';
import { indexFolder } from './ranking/indexedFolder.ts';
import { type LabelledQuery, ndcg, readLabelled } from './ranking/labelledSet.ts';

const LIMIT = 10;
const HISTORY_OPTIONS = { signal: new AbortController().signal, isStored: false };
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { whole: { type: 'boolean' }, 'no-history': { type: 'boolean' }, misses: { type: 'boolean' } },
});
const home = mkdtempSync(join(tmpdir(), 'farwharf-bench-ranking-'));

interface Scored extends LabelledQuery {
  readonly language: string;
  readonly score: number;
}

try {
  const scored: Scored[] = [];
  for (const { name, language, checkout, root, queries } of readLabelled(positionals[0] ?? '.')) {
    if (queries.length === 0) continue;
    const folder = values.whole === true ? checkout : join(checkout, root);
    using index = await indexFolder(folder, home);
    if (values['no-history'] !== true) await index.history.update(readCommits, HISTORY_OPTIONS);
    const own: Scored[] = [];
    for (const query of queries) {
      const found = await index.search(query.query, LIMIT);
      const score = ndcg(found, query.targets);
      own.push({ ...query, language, score });
      if (values.misses === true && score < 1) {
        print(
          `  ${score.toFixed(2)} ${query.category} ${query.query} -> ${query.targets.map(({ path }) => path).join(' ')}`,
        );
        for (const { path, startLine, score: points } of found.slice(0, 4))
          print(`        ${points.toFixed(2)} ${path}:${startLine}`);
      }
    }
    print(line(name, own));
    scored.push(...own);
  }
  print('');
  for (const [category, own] of Map.groupBy(scored, ({ category }) => category)) print(line(category, own));
  print(line('all', scored));
} finally {
  rmSync(home, { recursive: true });
}

function line(name: string, own: readonly Scored[]): string {
  const { mean, low, high } = interval(own.map(({ score }) => score));
  return `${name.padEnd(14)} ${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] of ${own.length}`;
}
