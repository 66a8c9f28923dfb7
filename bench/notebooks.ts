// Whether notebooks that run as jobs have the outputs and the failures that `jupyter nbconvert --execute` gives them. Usage: notebooks.ts
// NOTEBOOK…, each in a folder with nothing else in it than its data. Where outputs differ, nbconvert runs the notebook again: a cell that it
// then writes in another way (with a time, a random number or an address) is compared by the kinds of its outputs only. What a cell writes
// to one stream in several parts is one output here, and the path of the folder is none of the output. Fails if a cell or a failure
// differs. Needs the built command, and nbclient, ipykernel and nbconvert of python3.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';

interface Output {
  readonly output_type: string;
  readonly name?: string;
  readonly text?: string | readonly string[];
  readonly data?: Readonly<Record<string, unknown>>;
  readonly ename?: string;
}

interface Cell {
  readonly cell_type: string;
  readonly source: string | readonly string[];
  readonly execution_count?: number | null;
  readonly metadata: { readonly tags?: readonly string[] };
  readonly outputs?: readonly Output[];
}

interface Notebook {
  readonly cells: readonly Cell[];
  readonly metadata: { readonly kernelspec?: { readonly name?: string } };
}

interface Execution {
  readonly cells: readonly Cell[];
  /** The number of the cell that failed, and its error. */
  readonly failure: string | undefined;
}

const SHOWN = 1_500;
const CLI = resolve(import.meta.dirname, '../dist/cli.mjs');
const NBCONVERT = ['nbconvert', '--to', 'notebook', '--execute', '--inplace', '--ExecutePreprocessor.timeout=None'];
// What nbconvert does, which writes nothing when a cell fails.
const UP_TO_FAILURE = `
import sys, nbformat
from nbconvert.preprocessors import CellExecutionError, ExecutePreprocessor
notebook = nbformat.read(sys.argv[1], as_version=4)
for cell in notebook.cells:
    if cell.cell_type == 'code':
        cell.outputs, cell.execution_count = [], None
try:
    ExecutePreprocessor(timeout=None, kernel_name='python3').preprocess(notebook, {'metadata': {'path': '.'}})
except CellExecutionError:
    pass
except Exception as error:
    print(f'{type(error).__name__}: {error}', file=sys.stderr)
nbformat.write(notebook, sys.argv[1])
`;
const root = mkdtempSync(join(tmpdir(), 'farwharf-notebooks-'));
// What a fresh user has: no history of IPython, and no settings of Jupyter.
const home = join(root, 'home');
const env: NodeJS.ProcessEnv = { ...process.env, HOME: home, FARWHARF_HOME: join(root, 'farwharf') };
mkdirSync(home);

async function run(command: string, args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}) {
  const child = spawn(command, args, { cwd, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { exit: child.exitCode, stdout, stderr };
}

/** The cells of a notebook that was executed in a folder, up to the one that failed. */
function executionOf(json: string, folder: string): Execution {
  const folders = [folder, JSON.stringify(folder).slice(1, -1)];
  const { cells } = JSON.parse(folders.reduce((all, path) => all.replaceAll(path, '<folder>'), json)) as Notebook;
  const hasFailed = ({ metadata, outputs = [] }: Cell): boolean =>
    outputs.some(({ output_type: type }) => type === 'error') && metadata.tags?.includes('raises-exception') !== true;
  const failed = cells.findIndex(hasFailed);
  const error = cells[failed]?.outputs?.find(({ output_type: type }) => type === 'error')?.ename;
  return {
    cells: failed === -1 ? cells : cells.slice(0, failed + 1),
    failure: error && `cell ${failed + 1}: ${error}`,
  };
}

let copies = 0;
function copyOf(folder: string): string {
  const copy = join(root, `copy ${++copies}`);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

async function convert(notebook: string): Promise<Execution> {
  const folder = copyOf(dirname(notebook));
  const name = basename(notebook);
  const { kernelspec } = (JSON.parse(readFileSync(notebook, 'utf8')) as Notebook).metadata;
  // A job runs a notebook for another kernel of Python with the one that is there, nbconvert only with this option.
  const kernel = kernelspec?.name === 'python3' ? [] : ['--ExecutePreprocessor.kernel_name=python3'];
  const { exit } = await run('jupyter', [...NBCONVERT, ...kernel, name], folder);
  if (exit === 0) return executionOf(readFileSync(join(folder, name), 'utf8'), folder);
  const again = copyOf(dirname(notebook));
  const { stderr } = await run('python3', ['-c', UP_TO_FAILURE, name], again);
  const execution = executionOf(readFileSync(join(again, name), 'utf8'), again);
  return { ...execution, failure: execution.failure ?? stderr.trim().split('\n').at(-1) };
}

async function submit(notebook: string, service: NodeJS.ProcessEnv): Promise<Execution> {
  const folder = copyOf(dirname(notebook));
  const name = basename(notebook);
  const script = `'${name.replaceAll("'", String.raw`'\''`)}'`;
  const job = await run(process.execPath, [CLI, 'submit', folder, '--script', script, '--watch'], folder, service);
  const id = /accepted as job (\w+)/.exec(job.stderr)?.[1] ?? '';
  const result = await run(process.execPath, [CLI, 'results', id, name], folder, service);
  const log = job.stderr.trim();
  if (result.exit !== 0) return { cells: [], failure: `${log}\n${result.stderr}` };
  const execution = executionOf(result.stdout, join(root, 'data', 'jobs', id, 'workspace'));
  const end =
    job.exit === 0 ? undefined : (/could not be run to its end: (.*)/.exec(log)?.[1] ?? log.split('\n').at(-2));
  return { ...execution, failure: execution.failure ?? end };
}

function textOf({ text: parts = '' }: Output): string {
  return [parts].flat().join('');
}

/** The outputs of a cell as they are compared. */
function outputsOf({ outputs = [], execution_count: count }: Cell): unknown {
  const joined: Output[] = [];
  for (const output of outputs) {
    const last = joined.at(-1);
    const text = textOf(output);
    if (output.output_type === 'stream' && last?.output_type === 'stream' && last.name === output.name)
      joined[joined.length - 1] = { ...last, text: textOf(last) + text };
    else joined.push(output.text === undefined ? output : { ...output, text });
  }
  return { count: count ?? undefined, outputs: joined };
}

function kindsOf({ outputs = [] }: Cell): unknown {
  const kinds = outputs.map(({ output_type: type, name, ename, data = {} }) => [type, name, ename, Object.keys(data)]);
  return kinds.filter((kind, index) => !isDeepStrictEqual(kind, kinds[index - 1]));
}

/** Starts a service, and returns what makes commands use it. */
async function serve(): Promise<{ readonly service: NodeJS.ProcessEnv; stop(): Promise<void> }> {
  const args = [CLI, 'serve', '--port', '0', '--data', join(root, 'data'), '--json'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let line = '';
  for await (const part of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    line += part;
    if (line.includes('\n')) break;
  }
  const { url, key } = JSON.parse(line) as { url: string; key: string };
  return {
    service: { FARWHARF_REMOTE_HOST: url, FARWHARF_API_KEY: key },
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

interface Comparison {
  readonly cells: number;
  readonly equal: number;
  /** Cells that nbconvert itself writes in two ways, whose outputs are of the same kinds in the job. */
  readonly alike: number;
  readonly differences: readonly string[];
}

function compare(one: Execution, other: Execution, job: Execution): Comparison {
  const differences: string[] = [];
  let [cells, equal, alike] = [0, 0, 0];
  for (let index = 0; index < Math.max(one.cells.length, job.cells.length); index += 1) {
    const [first, second, own] = [one, other, job].map((execution) => execution.cells[index]);
    if ((first ?? own)?.cell_type !== 'code') continue;
    cells += 1;
    const [expected, again, found] = [first, second, own].map((cell) => JSON.stringify(cell && outputsOf(cell)));
    if (expected === found) equal += 1;
    else if (expected !== again && first && own && isDeepStrictEqual(kindsOf(first), kindsOf(own))) alike += 1;
    else differences.push(`  cell ${index + 1}\n    nbconvert: ${cut(expected)}\n    job:       ${cut(found)}`);
  }
  return { cells, equal, alike, differences };
}

function cut(text: string | undefined): string {
  return text === undefined ? 'not there' : text.slice(0, SHOWN);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const total = { cells: 0, equal: 0, alike: 0, notebooks: 0, failures: 0, same: 0 };
const server = await serve();
try {
  for (const notebook of process.argv.slice(2).map((path) => resolve(path))) {
    const [one, job] = [await convert(notebook), await submit(notebook, server.service)];
    const first = compare(one, one, job);
    const { cells, equal, alike, differences } =
      first.differences.length === 0 ? first : compare(one, await convert(notebook), job);
    const isSame = one.failure === job.failure;
    const ending = isSame
      ? (job.failure ?? 'no failure')
      : `nbconvert: ${one.failure ?? 'no failure'}; job: ${job.failure ?? 'no failure'}`;
    print(`${basename(notebook)}: ${equal} of ${cells} cells equal, ${alike} alike; ${ending}`);
    for (const difference of differences) print(difference);
    total.cells += cells;
    total.equal += equal;
    total.alike += alike;
    total.notebooks += 1;
    total.failures += Number(one.failure !== undefined || job.failure !== undefined);
    total.same += Number(isSame && job.failure !== undefined);
  }
} finally {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
}
print(
  `${total.notebooks} notebooks: ${total.equal} of ${total.cells} cells equal, ${total.alike} alike; ${total.same} of ${total.failures} failures the same`,
);
process.exitCode = total.equal + total.alike === total.cells && total.same === total.failures ? 0 : 1;
