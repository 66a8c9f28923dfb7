import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeptEnvironment } from '../../../../src/remote/protocol/environment.ts';
import { describePackages, forecastPackages, offeredLists, toolFindings } from '../../../../src/jobs/plan/packages.ts';
import { readPackageList } from '../../../../src/workspace/environments/packageList.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

const VENV = { requirements: 'requirements.txt' };

function kept(name: string, contents: string, seconds: number): KeptEnvironment {
  const at = '2027-05-01T00:00:00Z';
  return { name, contents, built_at: at, last_used_at: at, build_seconds: seconds, bytes: 1 };
}

test('what earlier jobs installed is recognized by its contents', async (t) => {
  const root = temporaryFolder(t);
  writeFileSync(join(root, 'requirements.txt'), 'numpy\n');
  const contents = (await readPackageList(root, VENV))?.contents ?? '';
  const older = kept('requirements.txt', 'another', 60);
  const ready = await forecastPackages(root, VENV, [older, kept('requirements.txt', contents, 90)]);
  assert.deepEqual(ready, { name: 'requirements.txt', state: 'ready' });
  const lines = { requirements: ['numpy'] };
  assert.deepEqual(await forecastPackages(root, lines, [older]), {
    name: '1 requirement',
    state: 'install',
    lastSeconds: undefined,
  });
  const again = await forecastPackages(root, VENV, [older]);
  assert.deepEqual(again, { name: 'requirements.txt', state: 'install', lastSeconds: 60 });
  const own = await forecastPackages(root, { ...VENV, keep: false }, [kept('requirements.txt', contents, 90)]);
  assert.ok(own !== undefined && 'state' in own);
  assert.equal(describePackages(own), 'requirements.txt will be installed for this job only');
});

test('a list that is missing or cannot be used is an error before anything is sent', async (t) => {
  const root = temporaryFolder(t);
  for (const [requirements, detail] of [
    ['none.txt', /^The folder has no none\.txt/],
    ['Pipfile.lock', /pipenv requirements/],
  ] as const) {
    const finding = await forecastPackages(root, { requirements }, []);
    assert.ok(finding !== undefined && 'type' in finding);
    assert.equal(finding.severity, 'error');
    assert.match(finding.detail, detail);
  }
});

test('nothing is said of packages where it is not known', async (t) => {
  const root = temporaryFolder(t);
  assert.equal(await forecastPackages(root, VENV, undefined), undefined);
  assert.equal(await forecastPackages(root, undefined, []), undefined);
  assert.equal(await forecastPackages(root, { env: { A: '1' } }, []), undefined);
  assert.equal(await forecastPackages(root, { conda: 'of another service' }, []), undefined);
  const lists = ['requirements.txt', 'uv.lock'];
  assert.deepEqual(offeredLists(lists, { features: ['environments'] }), lists);
  assert.deepEqual(offeredLists(lists, {}), ['requirements.txt']);
});

test('what a service cannot install is an error before anything is sent, unless the job may bring the tool', () => {
  const target = (account: object) => ({ account, service: 'gpu.example.org' });
  const pip = target({ features: [], package_tools: ['pip', 'npm'] });
  const older = target({ features: ['environments'] });
  const lists = ['train.py', 'uv.lock', 'poetry.lock', 'environment.yml', 'pnpm-lock.yaml', 'package-lock.json'];
  assert.deepEqual(offeredLists(lists, pip.account), ['train.py', 'uv.lock', 'poetry.lock', 'package-lock.json']);
  assert.deepEqual(offeredLists(lists, older.account), ['uv.lock', 'environment.yml', 'package-lock.json']);
  const pnpm = { name: 'pnpm-lock.yaml', tool: 'pnpm', whyNotPip: undefined } as const;
  const [finding] = toolFindings(pnpm, pip, {});
  assert.deepEqual(finding, {
    type: 'packages',
    severity: 'error',
    summary: 'gpu.example.org cannot install packages from pnpm-lock.yaml',
    detail: 'Available: pip, npm. Use another service, or ask its operator to install pnpm.',
  });
  assert.equal(toolFindings(pnpm, older, {})[0]?.detail.startsWith('It is of an older version. '), true);
  assert.deepEqual(toolFindings(pnpm, target({ package_tools: ['pnpm'] }), {}), []);
  assert.deepEqual(toolFindings(pnpm, pip, { cluster: { modules: ['nodejs'] } }), []);
  const poetry = { name: 'poetry.lock', tool: 'poetry', whyNotPip: undefined } as const;
  assert.deepEqual(toolFindings(poetry, pip, {}), []);
  const old = { ...poetry, whyNotPip: 'a version of Poetry before 2 wrote it' };
  assert.match(toolFindings(old, pip, {})[0]?.detail ?? '', /^a version of Poetry before 2 wrote it\. Available: pip/);
});
