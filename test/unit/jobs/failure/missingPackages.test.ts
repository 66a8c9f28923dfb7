import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { installLine, missingPackages } from '../../../../src/jobs/failure/missingPackages.ts';
import { NOTEBOOK_REMEDY } from '../../../../src/remote/protocol/notebookPackages.ts';
import { makeRecord } from '../fixtures.ts';

const OUTPUT = [`a.ipynb cannot be run, because /usr/bin/python3 has no nbclient. ${NOTEBOOK_REMEDY}`];
const missingWith = (requirements: unknown, script = 'a.ipynb', output: readonly string[] = OUTPUT) => {
  const venv = requirements === undefined ? null : { requirements };
  return missingPackages(makeRecord({ script, venv, folder: '/home/ada/folder' }), output);
};

test('what a notebook lacks is added to the list of its job, by lines or by the tool that wrote it', () => {
  const line = (requirements: unknown, script = "'a b.ipynb' x=1", platform: NodeJS.Platform = 'linux') => {
    const missing = missingWith(requirements, script);
    return missing && installLine({ script }, missing, platform);
  };
  const submit = `farwharf submit --script ''\\''a b.ipynb'\\'' x=1' --packages`;
  assert.equal(line(undefined), `printf '\\n%s' nbclient ipykernel >> requirements.txt && ${submit} requirements.txt`);
  assert.equal(line('req/a b.txt')?.includes(`>> 'req/a b.txt' && `), true);
  assert.equal(line('uv.lock'), `uv add nbclient ipykernel && ${submit} uv.lock`);
  assert.equal(line('poetry.lock', 'a.ipynb', 'win32')?.split('; ')[0], 'poetry add nbclient ipykernel');
  assert.equal(line(undefined, 'a.ipynb', 'win32')?.split('; ')[0], 'Add-Content requirements.txt nbclient,ipykernel');
});

test('nothing is offered for other programs, other failures, lists that cannot be added to, and files outside of the folder', () => {
  assert.equal(missingWith(undefined, 'a.py'), undefined);
  assert.equal(missingWith(undefined, 'a.ipynb', ['ModuleNotFoundError: No module named nbclient']), undefined);
  for (const list of [
    'environment.yml',
    'sub/uv.lock',
    'a.py',
    'run.sh',
    '../requirements.txt',
    '.txt',
    '',
    ['numpy'],
    1,
  ])
    assert.equal(missingWith(list), undefined, String(list));
});

test('the line adds the packages, whether or not the file ends with a line feed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-missing-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const missing = missingWith(undefined);
  assert.ok(missing !== undefined);
  const [add = ''] = installLine({ script: 'a.ipynb' }, missing, 'linux').split(' && ');
  for (const before of ['numpy', 'numpy\n', '']) {
    writeFileSync(join(folder, 'requirements.txt'), before);
    spawnSync('sh', ['-c', add], { cwd: folder });
    const lines = readFileSync(join(folder, 'requirements.txt'), 'utf8').split('\n');
    assert.deepEqual(
      lines.filter((line) => line !== ''),
      [...(before === '' ? [] : ['numpy']), 'nbclient', 'ipykernel'],
    );
  }
});
