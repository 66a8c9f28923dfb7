// Changes one place of a copy of the sources at a time, by the mutators of StrykerJS (without those of regular expressions), and
// counts how many of a seeded sample of such mutants are killed by the unit tests that execute the place, as Stryker does:
// `--sample`, `--seed`, `--only TEXT` (in the path), `--from N` to continue a run that was interrupted. The nearest test runs first, then the
// `--tests` nearest, and all others for what survives these. Linux only, because tests of changed code run where they see no processes but
// their own.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seeded } from '../test/random.ts';
import { findMutants, type Mutant } from './mutations/mutants.ts';
import { canConfine } from './mutations/confinement.ts';
import { NearestTests } from './testing/nearestTests.ts';
import { TestCopy } from './mutations/testCopy.ts';

const AREAS = ['core', 'remote', 'workspace', 'jobs', 'service/store', 'retrieval/search'];
/** One for each of the cores that the tests must do with. */
const COPIES = 2;
const { values: flags } = parseArgs({
  options: {
    sample: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '20' },
    from: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
  },
});

if (!canConfine) throw new Error('Mutants run on Linux only, where unshare(1) gives tests process IDs of their own.');

const root = join(import.meta.dirname, '..');
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const sources = new Map(
  AREAS.flatMap((area) => globSync(`src/${area}/**/*.ts`, { cwd: root }))
    .filter((path) => path.includes(flags.only))
    .toSorted()
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);
const all = [...sources].flatMap(([path, source]) => findMutants(path, source));
const below = seeded(Number(flags.seed));
const sample: Mutant[] = [];
while (sample.length < Number(flags.sample) && all.length > 0) sample.push(...all.splice(below(all.length), 1));
print(`${sample.length} of ${sample.length + all.length} mutants in ${sources.size} files`);

const nearest = new NearestTests(root);
const scores = new Map(AREAS.map((area) => [area, { killed: 0, survived: 0 }]));
const waiting = sample.slice(Number(flags.from)).entries();
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
const onFailed = (test: string): void => print(`left out ${test}, which fails with unchanged sources`);
const copies = { unchanged: new Map(), onFailed, signal: interrupted.signal };
await Promise.all(Array.from({ length: COPIES }, testWaiting)).catch((error: unknown) => {
  if (!interrupted.signal.aborted) throw error;
  process.exitCode = 130;
});
const total = { killed: 0, survived: 0 };
for (const [area, { killed, survived }] of scores) {
  print(`${area}: ${formatScore(killed, survived)}`);
  total.killed += killed;
  total.survived += survived;
}
print(`all: ${formatScore(total.killed, total.survived)}`);

/** Tests one mutant after the other in a copy of its own. */
async function testWaiting(): Promise<void> {
  const copy = await TestCopy.create(root, copies);
  try {
    for (const [index, mutant] of waiting) {
      if (index % 10 === 9) process.stderr.write(`${Number(flags.from) + index + 1} begun\n`);
      const score = scores.get(AREAS.find((name) => mutant.path.startsWith(`src/${name}/`)) ?? '');
      if (score === undefined) continue;
      if (await isKilled(copy, mutant)) score.killed += 1;
      else {
        score.survived += 1;
        const original = sources.get(mutant.path)?.slice(mutant.start, mutant.end) ?? '';
        print(`survived ${mutant.path}:${mutant.line}\n    ${oneLine(original)}\n  → ${oneLine(mutant.replacement)}`);
      }
    }
  } finally {
    await copy.dispose();
  }
}

async function isKilled(copy: TestCopy, { path, start, end, replacement }: Mutant): Promise<boolean> {
  const original = sources.get(path) ?? '';
  const source = { path, original, changed: original.slice(0, start) + replacement + original.slice(end), start };
  const candidates = nearest.of(path);
  let tested = 0;
  for (const most of [1, Number(flags.tests), candidates.length]) {
    const tests = await copy.executing(candidates, source, most);
    if (await copy.isNoticed(tests.slice(tested), source)) return true;
    tested = tests.length;
  }
  return false;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 150);
}

function formatScore(killed: number, survived: number): string {
  const sum = killed + survived;
  return `${killed} of ${sum} killed${sum === 0 ? '' : ` (${((100 * killed) / sum).toFixed(0)} %)`}`;
}
