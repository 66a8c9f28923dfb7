import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { copyTracked, trackedFiles } from '../../scripts/trackedFiles.ts';
import { type Finished, jsonLines, Scratch } from './commandLine.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROJECT = realpathSync(mkdtempSync(join(tmpdir(), 'farwharf-agents-')));
process.once('exit', () => rmSync(PROJECT, { recursive: true, force: true }));
copyTracked(trackedFiles(['examples/agents/**', 'src/**', 'docs/**', 'README.md']), PROJECT);
const README = readFileSync(join(PROJECT, 'examples/agents/README.md'), 'utf8');
const COMMAND_AND_OUTPUT = /```sh\nnode (\S+)\n```\n\n```text\n([\s\S]*?)```/g;

// What the examples import, as an installed package.
mkdirSync(join(PROJECT, 'node_modules'));
symlinkSync(ROOT, join(PROJECT, 'node_modules', 'farwharf'), 'junction');
symlinkSync(join(ROOT, 'node_modules', 'zod'), join(PROJECT, 'node_modules', 'zod'), 'junction');

function run(file: string): string {
  // Neither a key nor a proxy could help: the models are recorded.
  const env = { PATH: process.env['PATH'], NODE_OPTIONS: '--no-warnings' };
  return execFileSync(process.execPath, [file], { cwd: PROJECT, encoding: 'utf8', env });
}

// Lines move when the source is edited.
const withoutLines = (text: string): string => text.replaceAll(/:\d+-\d+$/gm, ':lines');

const examples = [...README.matchAll(COMMAND_AND_OUTPUT)];

test('the README shows four examples with their output', () => {
  assert.equal(examples.length, 4);
});

for (const [, file = '', output = ''] of examples) {
  test(`${file} runs offline and prints what its README says`, () => {
    assert.equal(withoutLines(run(file)), withoutLines(output));
  });
}

test('the lines that the repository example cites hold what it was asked for', () => {
  const [, file = '', from, to] = /^\[1\] (\S+):(\d+)-(\d+)$/m.exec(run('examples/agents/askRepository.mts')) ?? [];
  const lines = readFileSync(join(PROJECT, file), 'utf8')
    .split('\n')
    .slice(Number(from) - 1, Number(to));
  assert.ok(lines.some((line) => line.includes('function retryDelayMs')));
});

describe('the command does with each example what people do with a flow', () => {
  let scratch: Scratch;
  let folder = '';
  const flow = async (...args: string[]): Promise<Finished> => {
    const finished = await scratch.run(args, { cwd: folder });
    assert.equal(finished.exit, 0, finished.stderr + finished.stdout);
    return finished;
  };
  before(async () => {
    scratch = await Scratch.create();
    folder = join(scratch.root, 'project');
    for (const path of ['examples/agents', 'src/remote', 'docs', 'README.md'])
      await cp(join(PROJECT, path), join(folder, path), { recursive: true });
  });
  after(() => scratch[Symbol.asyncDispose]());

  for (const [, file = ''] of examples) {
    test(`${file} runs, replays, is pinned as a test, and runs as a job`, async () => {
      const ran = jsonLines((await flow('flow', 'run', file, '--json')).stdout).at(-1);
      assert.equal(outcomeOf(ran), 'done');
      const replayed = jsonLines((await flow('flow', 'run', file, '--replay', 'last', '--json')).stdout);
      assert.equal(outcomeOf(replayed.at(-1)), 'done');
      await flow('flow', 'pin', file);
      const events = jsonLines((await flow('submit', '--script', file, '--watch', '--json')).stdout);
      assert.equal(events.at(-1)?.['state'], 'succeeded');
    });
  }

  test('their tests pass, all of them and those of one file', async () => {
    const tested = jsonLines((await flow('flow', 'test', '--json')).stdout);
    assert.deepEqual(
      tested.map(({ status }) => status),
      examples.map(() => 'passed'),
    );
    const [, file = ''] = examples[0] ?? [];
    const ofOne = jsonLines((await flow('flow', 'test', file, '--json')).stdout);
    assert.deepEqual(
      ofOne.map(({ test: path, status }) => [path, status]),
      [[file.replace(/\.mts$/, '.run.flowtest.json'), 'passed']],
    );
  });
});

function outcomeOf(end: Readonly<Record<string, unknown>> | undefined): unknown {
  return (end?.['outcome'] as { type?: unknown } | undefined)?.type;
}
