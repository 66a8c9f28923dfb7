import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const ROOT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'examples/agents/README.md'), 'utf8');
const COMMAND_AND_OUTPUT = /```sh\nnode (\S+)\n```\n\n```text\n([\s\S]*?)```/g;

function run(file: string): string {
  // Neither a key nor a proxy could help: the models are recorded.
  const env = { PATH: process.env['PATH'], NODE_OPTIONS: '--no-warnings' };
  return execFileSync(process.execPath, [file], { cwd: ROOT, encoding: 'utf8', env });
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
  const lines = readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .slice(Number(from) - 1, Number(to));
  assert.ok(lines.some((line) => line.includes('function retryDelayMs')));
});
