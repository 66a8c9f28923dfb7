// Whether a folder's search puts the definition first that a query names, whole and in parts, and what one wrong letter costs: in a
// name, and in a question, which is the first sentence of a function's comment, which is not in what is searched. The arguments are
// checkouts, by default this repository. Weights and rules are chosen on the even queries; the odd ones are held out. `--misses` lists
// what is not found. The definitions are those that universal-ctags sees.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Index } from '../src/retrieval/index/index.ts';
import { roleOf } from '../src/retrieval/search/roles.ts';
import { partsOf } from '../src/retrieval/tokenizer/wordAnalyzer.ts';
import { randomFrom } from '../test/random.ts';
import { interval } from './ranking/bootstrap.ts';
import { readCheckout } from './ranking/docstrings.ts';
import { indexFolder } from './ranking/indexedFolder.ts';
import { misspell } from './ranking/misspell.ts';
import { readTags, type Tag } from './ranking/tags.ts';
import { writeUncommented } from './ranking/uncommentedCopy.ts';

const TOP = 10;
const MOST_NAMES = 200;
// Of a letter or more, unlike a selector of CSS.
const IDENTIFIER = /^(?=.*\p{L})[\p{L}_$][\p{L}\p{N}_$]{2,}[?!=]?$/u;
const MEASURES = ['name', 'name in parts', 'name, misspelt', 'question', 'question, misspelt'] as const;

interface Scored {
  readonly measure: (typeof MEASURES)[number];
  readonly isHeldOut: boolean;
  readonly score: number;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { misses: { type: 'boolean' } } });
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const base = mkdtempSync(join(tmpdir(), 'farwharf-bench-names-'));

/** Whether the first result is a definition of a name. */
async function isFirst(index: Index, query: string, tags: readonly Tag[]): Promise<boolean> {
  const [first] = await index.search(query, TOP);
  // The line of the name may be the one after that where the definition begins.
  const isRight = tags.some(
    ({ path, line }) => path === first?.path && first.startLine <= line + 1 && first.endLine >= line,
  );
  if (values.misses === true && !isRight) {
    const [{ path, line, kind } = { path: '', line: 0, kind: '' }] = tags;
    print(
      `    ${query}: ${kind} of ${path}:${line} -> ${first?.path}:${first?.startLine} (${tags.length} definitions)`,
    );
  }
  return isRight;
}

async function scoreNames(folder: string, home: string): Promise<Scored[]> {
  using index = await indexFolder(folder, home);
  const tags = readTags(folder).filter(({ path }) => roleOf(path) === 'source' && index.source(path) !== undefined);
  const byName = Map.groupBy(tags, ({ name }) => name);
  const own = tags.filter(({ name, isOwn }) => isOwn && IDENTIFIER.test(name));
  const names = [...new Set(own.map(({ name }) => name))];
  const random = randomFrom(1);
  const scored: Scored[] = [];
  for (const [at, name] of evenly(names, MOST_NAMES).entries()) {
    const isHeldOut = at % 2 === 1;
    const own = byName.get(name) ?? [];
    const add = async (measure: Scored['measure'], query: string | undefined): Promise<void> => {
      if (query !== undefined) scored.push({ measure, isHeldOut, score: Number(await isFirst(index, query, own)) });
    };
    await add('name', name);
    const [, ...parts] = partsOf(name);
    if (parts.length > 0) await add('name in parts', parts.join(' '));
    await add('name, misspelt', misspell(name, random));
  }
  return scored;
}

/** MRR@10 of the files that contain the described functions. */
async function scoreQuestions(folder: string, home: string): Promise<Scored[]> {
  const checkout = readCheckout(folder);
  const { queries } = checkout;
  using index = await indexFolder(writeUncommented(checkout, home), home);
  const random = randomFrom(2);
  const scored: Scored[] = [];
  for (const [at, { query, path }] of queries.entries()) {
    const misspelt = misspell(query, random);
    if (misspelt === undefined) continue;
    const add = async (measure: Scored['measure'], text: string): Promise<void> => {
      const rank = (await index.search(text, TOP)).findIndex((hit) => hit.path === path) + 1;
      scored.push({ measure, isHeldOut: at % 2 === 1, score: rank === 0 ? 0 : 1 / rank });
    };
    await add('question', query);
    await add('question, misspelt', misspelt);
  }
  return scored;
}

function evenly<T>(items: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, items.length / most);
  return Array.from({ length: Math.min(items.length, most) }, (_, at) => items[Math.floor(at * step)]).filter(
    (item) => item !== undefined,
  );
}

function report(name: string, scored: readonly Scored[]): void {
  const cells = MEASURES.map((measure) => {
    const own = scored.filter((each) => each.measure === measure);
    return `${measure} ${(own.reduce((sum, { score }) => sum + score, 0) / own.length).toFixed(3)} of ${own.length}`;
  });
  print(`${name.padEnd(14)} ${cells.join(' | ')}`);
}

try {
  const scored: Scored[] = [];
  for (const folder of positionals.length > 0 ? positionals : [join(import.meta.dirname, '../src')]) {
    const home = join(base, basename(folder));
    const own = [...(await scoreNames(resolve(folder), home)), ...(await scoreQuestions(resolve(folder), home))];
    rmSync(home, { recursive: true });
    report(basename(folder), own);
    scored.push(...own);
  }
  print('');
  for (const isHeldOut of [false, true]) {
    const own = scored.filter((each) => each.isHeldOut === isHeldOut);
    report(isHeldOut ? 'held out' : 'development', own);
    const [plain = [], misspelt = []] = ['question', 'question, misspelt'].map((measure) =>
      own.filter((each) => each.measure === measure),
    );
    const { mean, low, high } = interval(misspelt.map(({ score }, at) => score - (plain[at]?.score ?? 0)));
    print(
      `${''.padEnd(14)} one wrong letter in a question: ${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] MRR@10`,
    );
  }
} finally {
  rmSync(base, { recursive: true });
}
