import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JobPackages } from '../../../../../src/service/runner/environment/jobPackages.ts';
import { commandInContainer, programOfCommand } from '../../../../../src/service/runner/program/commandProgram.ts';

function machine(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-command-'));
  t.after(() => rmSync(root, { recursive: true }));
  const workspace = join(root, 'workspace');
  for (const path of ['bin/tool', 'workspace/run', 'workspace/only']) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), '', { mode: 0o755 });
  }
  return { root, workspace, on: { searchPath: join(root, 'bin'), packages: undefined, isVisible: () => true } };
}

test('a command names a program of the search path, or a path from its folder', {
  skip: process.platform === 'win32',
}, (t) => {
  const { root, workspace, on } = machine(t);
  const find = (program: string) => programOfCommand({ program, args: ['a b'], workspace }, on);
  assert.deepEqual(find('tool'), { file: join(root, 'bin', 'tool'), args: ['a b'], env: {} });
  assert.equal(find('./run').file, join(workspace, 'run'));
  assert.equal(find(join(root, 'bin', 'tool')).file, join(root, 'bin', 'tool'));
  assert.throws(() => find('only'), { code: 'missing', message: /^only was not found .*write \.\/only$/ });
});

test('a program that the job cannot see is not there, and its sentence does not tell whether it is', {
  skip: process.platform === 'win32',
}, (t) => {
  const { workspace, on } = machine(t);
  const message = (program: string): string => {
    try {
      return programOfCommand({ program, args: [], workspace }, { ...on, isVisible: () => false }).file;
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
  };
  assert.equal(message('./run'), message('./gone').replace('gone', 'run'));
  assert.equal(message('only'), message('gone').replace('gone', 'only'));
});

test('a container looks for the program of a command itself, except for the Python of the packages', () => {
  const packages: JobPackages = { tool: 'pip', path: '/job/env', access: 'read-only' };
  const find = (program: string, own?: JobPackages) =>
    commandInContainer({ program, args: ['-x'], workspace: '/job' }, own).file;
  assert.equal(find('torchrun'), 'torchrun');
  assert.equal(find('python'), 'python');
  assert.match(find('python', packages), /^\/job\/env\/bin\/python/);
  assert.equal(find('./run'), '/job/run');
  assert.equal(find('/opt/tool'), '/opt/tool');
});
