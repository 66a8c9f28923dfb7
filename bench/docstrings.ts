// Whether a folder's search finds the function that a sentence describes, beside peers on the same chunks that get the same information.
// A question is the first sentence of a function's comment, and the comment is not in what is searched. The answer is a result whose place
// has one of the function's first lines: MRR@10 over results of one a file, and the lead over each peer, with 95 % intervals. The arguments
// are checkouts, by default this repository's sources. Weights are chosen on the even questions; the odd ones are held out.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { interval } from './ranking/bootstrap.ts';
import { FIRST_LINES, readCheckout } from './ranking/docstrings.ts';
import { openFilePeers } from './ranking/filePeers.ts';
import { indexFolder } from './ranking/indexedFolder.ts';
import { writeUncommented } from './ranking/uncommentedCopy.ts';

const TOP = 10;
const OURS = 'farwharf';
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const { positionals } = parseArgs({ allowPositionals: true });
const base = mkdtempSync(join(tmpdir(), 'farwharf-bench-docstrings-'));

interface Scored {
  readonly isHeldOut: boolean;
  /** 1 / the rank of the answer by engine; 0 where it is not among the first. */
  readonly scores: Readonly<Record<string, number>>;
}

async function scoreQuestions(folder: string, home: string): Promise<Scored[]> {
  const checkout = readCheckout(folder);
  using index = await indexFolder(writeUncommented(checkout, home), home);
  const engines = [[OURS, (query: string) => index.search(query, TOP)], ...openFilePeers(index, TOP)] as const;
  const scored: Scored[] = [];
  for (const [at, { query, path, line }] of checkout.queries.entries()) {
    const scores: Record<string, number> = {};
    for (const [engine, find] of engines) {
      const rank = (await find(query)).findIndex(
        (place) => place.path === path && place.startLine < line + FIRST_LINES && place.endLine >= line,
      );
      scores[engine] = rank < 0 ? 0 : 1 / (rank + 1);
    }
    scored.push({ isHeldOut: at % 2 === 1, scores });
  }
  return scored;
}

function report(title: string, scored: readonly Scored[]): void {
  const engines = Object.keys(scored[0]?.scores ?? {});
  const of = (engine: string): number[] => scored.map(({ scores }) => scores[engine] ?? 0);
  const leads = engines
    .filter((engine) => engine !== OURS)
    .map((engine) => {
      const lead = of(OURS).map((score, at) => score - (of(engine)[at] ?? 0));
      return `lead over ${engine} ${formatInterval(lead)}`;
    });
  print(
    `${`${title} (${scored.length})`.padEnd(20)} ${engines.map((engine) => `${engine} ${formatInterval(of(engine))}`).join('  ')}`,
  );
  print(`${''.padEnd(20)} ${leads.join('  ')}`);
}

function formatInterval(values: readonly number[]): string {
  const { mean, low, high } = interval(values);
  return `${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
}

try {
  const pooled: Scored[] = [];
  for (const folder of positionals.length > 0 ? positionals : [join(import.meta.dirname, '../src')]) {
    const home = join(base, basename(folder));
    const own = await scoreQuestions(resolve(folder), home);
    rmSync(home, { recursive: true });
    report(basename(folder), own);
    pooled.push(...own);
  }
  print('');
  report(
    'even questions',
    pooled.filter(({ isHeldOut }) => !isHeldOut),
  );
  report(
    'odd questions',
    pooled.filter(({ isHeldOut }) => isHeldOut),
  );
  report('all', pooled);
} finally {
  rmSync(base, { recursive: true });
}
