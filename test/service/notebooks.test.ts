import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { LiveCells } from '../../src/jobs/notebooks/liveCells.ts';
import { interruptAt, type RunOptions, Scratch } from './commandLine.ts';
import { type Cell, code, notebook, notebooksAreMissing } from './support/notebooks.ts';
import { programs } from './support/packages.ts';
import { startService, testConfig } from './support/service.ts';

const missing = await notebooksAreMissing();
const PROGRAMS = '/usr/bin:/bin';

suite('a notebook', { skip: missing === undefined ? false : `LOUD: ${missing}` }, () => {
  let scratch: Scratch;
  let env: Readonly<Record<string, string>>;
  let runs = 0;
  before(async () => {
    scratch = await Scratch.create();
    ({ env } = await scratch.serve([], { PATH: PROGRAMS }));
  });
  after(() => scratch[Symbol.asyncDispose]());

  /** Runs a job to its end, and returns what it printed and the cells of its notebook afterwards. */
  async function run(files: Record<string, string>, script: string | readonly string[], options: RunOptions = {}) {
    const folder = await scratch.folder(`project ${++runs}`, files);
    const started = typeof script === 'string' ? ['--script', script] : script;
    const ended = await scratch.run(['submit', folder, ...started, '--watch'], { env, ...options });
    const id = /accepted as job (\w+)/.exec(ended.stderr)?.[1] ?? '';
    const cells = async (path: string): Promise<readonly Required<Cell>[]> => {
      const result = await scratch.run(['results', id, path], { env });
      assert.equal(result.exit, 0, result.stderr + ended.stderr);
      return (JSON.parse(result.stdout) as { cells: Required<Cell>[] }).cells;
    };
    return { ...ended, folder, id, cells };
  }
  const textOf = ({ source }: Cell): string => [source].flat().join('');
  const outputOf = ({ outputs = [] }: Cell): string =>
    outputs
      .flatMap(({ text, data, evalue }) => [text ?? (data as Record<string, unknown>)?.['text/plain'] ?? evalue].flat())
      .join('');

  test('runs cell by cell in its own folder, with its parameters and those of a profile, shows their output, and comes home with it', async () => {
    const cells = [
      { cell_type: 'markdown', source: '# Burrows' },
      code('print("skipped")', ['skip-execution']),
      { ...code('alpha = 1', ['parameters']), outputs: [{ output_type: 'stream', name: 'stdout', text: 'of before' }] },
      code('import sys\nprint("one")\nprint("two")\nprint("aside", file=sys.stderr)'),
      code('  '),
      code('open("near.txt").read() + str(alpha * 2)'),
    ];
    const parameters = { rate: '${matrix:rate}', names: ['a'], label: '1', more: { none: null, yes: true } };
    const sweep = { script: `'sub/a b.ipynb' alpha=0.5 'name=a "b"'`, parameters, matrix: { rate: [0.5, 2] } };
    const files = {
      'sub/a b.ipynb': notebook(cells),
      'sub/near.txt': 'near ',
      'json.py': 'raise SystemExit("shadow")',
      'farwharf.json': JSON.stringify({ profiles: { sweep } }),
    };
    const ended = await run(files, ['--profile', 'sweep', '--set', 'rate=3', '--set', 'names=NaN']);
    assert.equal(ended.exit, 0, ended.stderr);
    assert.match(ended.stdout, /cell 1 of 3\ncell 2 of 3\none\ntwo\ncell 3 of 3\n'near 1\.0'\n/);
    assert.match(ended.stderr, /aside\n/);
    const after = await ended.cells('sub/a b.ipynb');
    assert.deepEqual(after.map(outputOf), ['', '', '', '', 'one\ntwo\naside\n', '', "'near 1.0'"]);
    const values = ['0.5', `'a "b"'`, '3', "'1'", "{'none': None, 'yes': True}", "'NaN'"];
    const names = ['alpha', 'name', 'rate', 'label', 'more', 'names'];
    assert.equal(textOf(after[3] ?? code('')), names.map((name, index) => `${name} = ${values[index]}`).join('\n'));
    assert.deepEqual(after[3]?.metadata.tags, ['injected-parameters']);
    const dry = await scratch.run(['submit', ended.folder, '--profile', 'sweep', '--dry-run', '--json'], { env });
    const { jobs } = JSON.parse(dry.stdout) as { jobs: { script: string }[] };
    const rest = `'names=["a"]' 'label="1"' 'more={"none":null,"yes":true}'`;
    assert.deepEqual(
      jobs.map(({ script }) => script),
      [0.5, 2].map((rate) => `${sweep.script} rate=${rate} ${rest}`),
    );
  });

  test('fails with the cell that fails, and keeps the outputs up to it', async () => {
    const cells = [code('print("before")'), code('total = 0\n1 / total'), code('print("never")')];
    const ended = await run({ 'a.ipynb': notebook(cells) }, 'a.ipynb');
    assert.equal(ended.exit, 1, ended.stderr);
    assert.match(ended.stderr, /cell 2 of 3 of a\.ipynb failed: ZeroDivisionError: division by zero/);
    assert.deepEqual((await ended.cells('a.ipynb')).map(outputOf), ['before\n', 'division by zero', '']);
    const { stdout } = await scratch.run(['watch', ended.id, '--json'], { env });
    const live = new LiveCells();
    for (const line of stdout.trim().split('\n')) live.push(JSON.parse(line) as { event: string; data: unknown });
    assert.deepEqual(
      live.all.map(({ state, count, outputs }) => [state, count, outputs?.map((output) => output.output_type)]),
      [
        ['done', 1, ['stream']],
        ['failed', 2, ['error']],
        ['stopped', null, undefined],
      ],
    );
    assert.doesNotMatch(ended.stdout, /farwharf:cell/);
  });

  test('whose job is cancelled keeps the outputs up to then', async () => {
    const cells = [code('print("before")'), code('import time\nprint("half", flush=True)\ntime.sleep(600)')];
    const ended = await run({ 'a.ipynb': notebook(cells) }, 'a.ipynb', { onOutput: interruptAt('half\n') });
    await scratch.run(['cancel', ended.id], { env });
    await scratch.run(['watch', ended.id], { env });
    assert.deepEqual((await ended.cells('a.ipynb')).map(outputOf), ['before\n', 'half\n']);
  });

  test('comes home into the local notebook, which was edited meanwhile', async () => {
    const cells = [code('print("one")'), code('print("two")'), code('print("three")')];
    const { id, folder } = await run({ 'a.ipynb': notebook(cells) }, 'a.ipynb');
    const mine = [code('print("one")'), code('print("two, edited")'), code('print("three")'), code('print("mine")')];
    await writeFile(join(folder, 'a.ipynb'), notebook(mine));
    const downloaded = await scratch.run(['download', id], { env });
    assert.match(downloaded.stderr, /a\.ipynb \(yours, with the outputs of the job; those of 1 cell are older/);
    const { cells: merged } = JSON.parse(await readFile(join(folder, 'a.ipynb'), 'utf8')) as {
      cells: Required<Cell>[];
    };
    assert.deepEqual(merged.map(textOf), mine.map(textOf));
    assert.deepEqual(merged.map(outputOf), ['one\n', 'two\n', 'three\n', '']);
    assert.deepEqual(await readdir(folder), ['a.ipynb']);
    assert.match((await scratch.run(['download', id], { env })).stderr, /Nothing new/);
  });

  test('whose kernel ends says so, however much it printed before, which the log has in part and the notebook as a whole', async () => {
    const cells = ['print("y" * 9_000_000)\nprint("last")', 'print("two")', 'import os\nos.kill(os.getpid(), 9)'];
    const ended = await run({ 'a.ipynb': notebook(cells) }, 'a.ipynb');
    assert.equal(ended.exit, 1);
    assert.match(ended.stderr, /The kernel ended while cell 3 of 3 of a\.ipynb ran/);
    const rest = ended.stdout.replace('y'.repeat(8_000_000), '(y)');
    assert.equal(
      rest,
      'cell 1 of 3\n(y)\n[the rest of what this cell prints is in the notebook]\ncell 2 of 3\ntwo\ncell 3 of 3\n',
    );
    assert.equal((await ended.cells('a.ipynb')).map(outputOf)[0]?.length, 9_000_006);
  });

  test('in which nbclient fails says so in one line, and keeps the outputs up to then', async () => {
    const widget = 'from ipykernel.comm import Comm\nComm(target_name="jupyter.widget", data={})';
    const ended = await run({ 'a.ipynb': notebook([code('print("before")'), code(widget)]) }, 'a.ipynb');
    assert.equal(ended.exit, 1);
    assert.match(ended.stderr, /a\.ipynb could not be run to its end: KeyError: 'state'\n/);
    assert.doesNotMatch(ended.stderr, /Traceback/);
    assert.equal((await ended.cells('a.ipynb')).map(outputOf)[0], 'before\n');
  });

  test('that cannot be run says why, and what to do', async () => {
    const spec = (name: string, language: string) => ({ name, language, display_name: name });
    const one = [code('print("ran")')];
    for (const [text, args, message] of [
      ['{"cells": 1', '', /a\.ipynb is not a notebook of Jupyter, or it is damaged/],
      [
        '{"cells": [1], "nbformat": 4, "nbformat_minor": 4, "metadata": {}}',
        '',
        /not a notebook of Jupyter, or it is damaged/,
      ],
      [notebook(one, spec('ir', 'R')), '', /needs the kernel 'ir' for R.*It has: .*python3.*\. Choose one/],
      [notebook(one), '1x=2', /'1x=2' is no parameter of a notebook\. Write NAME=VALUE/],
    ] as const) {
      const ended = await run({ 'a.ipynb': text }, `a.ipynb ${args}`);
      assert.equal(ended.exit, 1, ended.stderr);
      assert.match(ended.stderr, message);
    }
    const renamed = await run({ 'a.ipynb': notebook(one, spec('my-env', 'python')) }, 'a.ipynb');
    assert.equal(renamed.exit, 0, renamed.stderr);
    assert.match(renamed.stderr, /The kernel 'my-env' of a\.ipynb is not on this machine/);
    assert.match(renamed.stdout, /ran\n/);
  });

  test('names what is missing where there is no Jupyter', async (t) => {
    const bin = await programs(t, { python3: 'exec /usr/bin/python3 -S "$@"' });
    const service = await startService(t, { config: testConfig({ read_only: [bin] }) });
    const path = process.env['PATH'];
    process.env['PATH'] = bin;
    t.after(() => (process.env['PATH'] = path));
    const remote = { FARWHARF_REMOTE_HOST: service.url, FARWHARF_API_KEY: service.key };
    const { exit, stderr } = await run({ 'a.ipynb': notebook(['print("ran")']) }, 'a.ipynb', {
      env: { ...env, ...remote },
    });
    assert.equal(exit, 1);
    assert.match(
      stderr,
      /a\.ipynb cannot be run, because \/\S+ has no nbformat\. Add nbclient and ipykernel to the packages/,
    );
    assert.match(
      stderr,
      /lacks nbclient and ipykernel, .* run it again:\n {2}cd \S+project.* && printf '\\n%s' nbclient ipykernel >> requirements\.txt && farwharf submit --script a\.ipynb --packages requirements\.txt\n/,
    );
  });
});
