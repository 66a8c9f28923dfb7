// Whether a search for the subject of a commit finds the files that it changed: MRR@10 over the last commits of checkouts with their
// history. Each checkout is searched as it was before those commits, and no later commit is evidence.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { roleOf } from '../src/retrieval/search/roles.ts';
import { readCommits } from '../src/workspace/git/commitLog.ts';
import { interval } from './ranking/bootstrap.ts';
import { indexFolder } from './ranking/indexedFolder.ts';

const LIMIT = 10;
// Ranks are counted among the sources alone as well, so that more results are needed.
const DEPTH = 40;
const MOST_PATHS = 20;
const HISTORY_OPTIONS = { signal: new AbortController().signal, isStored: false };
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { commits: { type: 'string', default: '300' } },
});

interface Question {
  readonly subject: string;
  readonly paths: readonly string[];
}

interface Ranks {
  readonly all: number;
  readonly sources: number | undefined;
}

const base = mkdtempSync(join(tmpdir(), 'farwharf-bench-commits-'));
try {
  const pooled: { readonly without: Ranks; readonly history: Ranks }[] = [];
  for (const repository of positionals) {
    const { folder, questions } = earlier(repository);
    using index = await indexFolder(folder, join(base, 'home'));
    const rank = async ({ subject, paths }: Question): Promise<Ranks> => {
      const found = (await index.search(subject, DEPTH)).map(({ path }) => path);
      const isSource = (path: string): boolean => roleOf(path) === 'source';
      return {
        all: reciprocalRank(found, paths),
        sources: paths.some(isSource) ? reciprocalRank(found.filter(isSource), paths.filter(isSource)) : undefined,
      };
    };
    const without = await Promise.all(questions.map(rank));
    await index.history.update(readCommits, HISTORY_OPTIONS);
    const history = await Promise.all(questions.map(rank));
    const own = without.map((ranks, at) => ({ without: ranks, history: history[at] ?? ranks }));
    report(basename(repository) === 'repo' ? repository : basename(repository), own);
    pooled.push(...own);
  }
  report('all', pooled);
} finally {
  rmSync(base, { recursive: true });
}

/** A clone of a repository as it was before its last commits, and those commits as questions. */
function earlier(repository: string): { readonly folder: string; readonly questions: readonly Question[] } {
  const folder = mkdtempSync(join(base, 'clone-'));
  const git = (...argv: readonly string[]): string =>
    execFileSync('git', ['-C', folder, ...argv], { encoding: 'utf8', maxBuffer: 1e9 });
  execFileSync('git', ['clone', '-q', '--no-checkout', repository, folder]);
  const ids = git('rev-list', '--first-parent', '-n', values.commits, 'HEAD').trim().split('\n');
  const log = git(
    'log',
    '--first-parent',
    '-n',
    String(ids.length - 1),
    '-m',
    '--no-renames',
    '--name-only',
    '--format=%x01%s',
  );
  git('checkout', '-q', '--detach', ids.at(-1) ?? 'HEAD');
  const existing = new Set(git('ls-files').split('\n'));
  const questions = log
    .split('\x01')
    .slice(1)
    .flatMap((entry) => {
      const [subject = '', ...lines] = entry.split('\n');
      const paths = lines.filter((path) => path !== '' && existing.has(path));
      return paths.length > 0 && paths.length <= MOST_PATHS && !subject.startsWith('Merge ')
        ? [{ subject, paths }]
        : [];
    });
  return { folder, questions };
}

function reciprocalRank(found: readonly string[], wanted: readonly string[]): number {
  const at = found.slice(0, LIMIT).findIndex((path) => wanted.includes(path));
  return at < 0 ? 0 : 1 / (at + 1);
}

function report(name: string, ranks: readonly { readonly without: Ranks; readonly history: Ranks }[]): void {
  const show = (values: readonly (number | undefined)[]): string => {
    const { mean, low, high } = interval(values.filter((value) => value !== undefined));
    return `${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
  };
  const { without, history } = { without: ranks.map((own) => own.without), history: ranks.map((own) => own.history) };
  print(`${name} (${ranks.length} commits)`);
  print(
    `  all files: ${show(without.map(({ all }) => all))}, with past commits ${show(history.map(({ all }) => all))}`,
  );
  print(
    `  sources:   ${show(without.map(({ sources }) => sources))}, with past commits ${show(history.map(({ sources }) => sources))}`,
  );
}
