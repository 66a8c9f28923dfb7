// Prints the figures behind every table of ranking in docs/retrieval.md, each with its interval and beside its peers, by running the
// measurements one after the other. The argument is a folder with what is measured, which is not shipped: `labelled` as
// `ranking/labelledSet.ts` describes it, checkouts of other repositories in `heldOut`, checkouts with their history in `history`, checkouts
// in `docstrings`, and the collections `cosqa` and `cranfield`. A part that the folder does not have is named and left out.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { positionals } = parseArgs({ allowPositionals: true });
const folder = resolve(positionals[0] ?? '.');
const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Measurement {
  readonly title: string;
  readonly program: string;
  /** The part of the folder that it needs. */
  readonly part: string;
  readonly programArguments: (path: string) => readonly string[];
}

const MEASUREMENTS: readonly Measurement[] = [
  { title: 'Questions about files', program: 'fileRanking', part: 'labelled', programArguments: (path) => [path] },
  { title: 'Subjects of commits', program: 'commits', part: 'history', programArguments: foldersIn },
  { title: 'Names and typing errors', program: 'names', part: 'labelled/repos', programArguments: foldersIn },
  { title: 'The same, other repositories', program: 'names', part: 'heldOut', programArguments: foldersIn },
  { title: 'Descriptions of functions', program: 'docstrings', part: 'docstrings', programArguments: foldersIn },
  { title: 'Chunks alone', program: 'ranking', part: 'docstrings', programArguments: foldersIn },
  { title: 'CoSQA', program: 'ranking', part: 'cosqa', programArguments: (path) => ['--cosqa', path] },
  { title: 'Cranfield', program: 'ranking', part: 'cranfield', programArguments: (path) => ['--cranfield', path] },
];

for (const { title, program, part, programArguments } of MEASUREMENTS) {
  const path = join(folder, part);
  print(`\n== ${title} (node bench/${program}.ts)`);
  if (!existsSync(path)) {
    print(`NOT MEASURED: ${folder} has no ${part}.`);
    continue;
  }
  const script = join(import.meta.dirname, `${program}.ts`);
  const { status } = spawnSync(process.execPath, [script, ...programArguments(path)], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

function foldersIn(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(path, name))
    .toSorted();
}
