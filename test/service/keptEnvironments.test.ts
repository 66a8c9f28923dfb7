import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { findProgram } from '../../src/core/processes/findProgram.ts';
import { makeArchive } from './support/archive.ts';
import { isolateJobs, isolationIsMissing, testedIsolation } from './support/isolation.ts';
import { programs, skipWithoutPython as skip, wheelFolder } from './support/packages.ts';
import { type ServiceClient, startService, testConfig } from './support/service.ts';

if ((await isolationIsMissing()) === undefined) isolateJobs();

const SCRIPT = 'import sys, tiny; print(tiny.VALUE, sys.prefix)';
const FILES = { 'a.py': SCRIPT, 'requirements.txt': 'tiny == 1.0\n' };
const INSTALLED = /Successfully installed tiny-1\.0/;
const READY = /the environment of requirements\.txt is ready/;

interface Setting {
  readonly service: ServiceClient;
  /** The description of an environment with the package `tiny`. */
  readonly venv: { readonly requirements: string; readonly env: Readonly<Record<string, string>> };
}

/** A service whose jobs can install `tiny` by its name. */
async function startWithWheel(t: TestContext): Promise<Setting> {
  const wheels = await wheelFolder(t);
  const service = await startService(t, { config: testConfig({ read_only: [wheels] }) });
  return { service, venv: { requirements: 'requirements.txt', env: { PIP_FIND_LINKS: wheels, PIP_NO_INDEX: '1' } } };
}

async function run(service: ServiceClient, files: Readonly<Record<string, string>>, meta: object) {
  const id = await service.submit(files, { script: 'a.py', ...meta });
  return end(service, id);
}

async function end(service: ServiceClient, id: string) {
  const job = await service.untilEnd(id);
  return { job, output: await service.output(id), notes: await service.output(id, 'stderr') };
}

test('an environment is built once, and later jobs with the same packages use it', {
  skip,
}, async (t) => {
  const { service, venv } = await startWithWheel(t);
  assert.ok((await service.json<{ features: string[] }>('/v1/me')).features.includes('environments'));
  const first = await run(service, FILES, { venv });
  assert.equal(first.job.state, 'succeeded', first.job.reason ?? '');
  assert.match(first.output, INSTALLED);
  assert.match(first.notes, /building the environment of requirements\.txt/);
  const second = await run(service, { ...FILES, 'other.txt': 'another folder' }, { venv });
  assert.equal(second.job.state, 'succeeded', second.job.reason ?? '');
  assert.doesNotMatch(second.output, INSTALLED);
  assert.match(second.notes, READY);
  assert.equal(second.output, first.output.split('\n').slice(-2).join('\n'), 'the same place');
  const { environments } = await service.json<{ environments: Record<string, unknown>[] }>('/v1/environments');
  assert.equal(environments.length, 1);
  for (const { name, bytes, build_seconds: seconds } of environments) {
    assert.equal(name, 'requirements.txt');
    assert.ok(Number(bytes) > 1_000_000 && Number(seconds) > 0);
  }
  const attack = `
import os, shutil, sys, tiny
def attempt(what):
    try: what(); print('CHANGED')
    except OSError as error: print(type(error).__name__)
root = sys.prefix
attempt(lambda: open(tiny.__file__, 'w'))
attempt(lambda: os.remove(tiny.__file__))
attempt(lambda: open(os.path.join(root, 'bin', 'python3'), 'ab'))
attempt(lambda: os.rename(root, root + '.away'))
attempt(lambda: open(os.path.join(os.path.dirname(tiny.__file__), 'sitecustomize.py'), 'w'))
attempt(lambda: shutil.rmtree(root))
`;
  const unprotected = testedIsolation() === 'none' && process.getuid?.() === 0;
  const why = unprotected ? 'NO ISOLATION: permissions do not stop root' : false;
  await t.test('no job changes it', { skip: why }, async () => {
    const { output } = await run(service, { ...FILES, 'a.py': attack }, { venv });
    assert.equal(output.split('\n').length, 7, output);
    assert.doesNotMatch(output, /CHANGED/);
    const later = await run(service, FILES, { venv });
    assert.equal(later.job.state, 'succeeded');
    assert.match(later.notes, READY);
  });
});

test('packages of npm are where Node.js finds them, and are no results', async (t) => {
  const tarball = await makeArchive({
    'package/package.json': '{"name":"tiny","version":"1.0.0","type":"module","exports":"./index.js"}',
    'package/index.js': 'export const value = 42;',
  });
  let requests = 0;
  const registry = createServer((_, response) => {
    requests += 1;
    response.end(Buffer.from(tarball));
  }).listen(0, '127.0.0.1');
  t.after(() => registry.close());
  await new Promise((resolve) => registry.once('listening', resolve));
  const { port } = registry.address() as AddressInfo;
  const integrity = `sha512-${createHash('sha512').update(Buffer.from(tarball)).digest('base64')}`;
  const dependencies = { tiny: '1.0.0' };
  const lock = {
    name: 'app',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'app', version: '1.0.0', dependencies },
      'node_modules/tiny': { version: '1.0.0', resolved: `http://127.0.0.1:${port}/tiny-1.0.0.tgz`, integrity },
    },
  };
  const service = await startService(t);
  const files = {
    'a.mjs': `import { value } from 'tiny'; import { writeFileSync } from 'node:fs'; writeFileSync('result.txt', 'x'); console.log(value);`,
    'package.json': JSON.stringify({ name: 'app', version: '1.0.0', dependencies }),
    'package-lock.json': JSON.stringify(lock),
  };
  for (let times = 0; times < 2; times += 1) {
    const id = await service.submit(files, { script: 'a.mjs', venv: { requirements: 'package-lock.json' } });
    const { job, output, notes } = await end(service, id);
    assert.equal(job.state, 'succeeded', `${job.reason} ${output} ${notes}`);
    assert.match(output, /42\n$/);
    const artifacts = (await service.events(id)).filter(({ event }) => event === 'artifact');
    assert.deepEqual(
      artifacts.map(({ data }) => data['path']),
      ['result.txt'],
    );
  }
  assert.equal(requests, 1);
});

/** Each answers with the arguments that it was called with, and makes what the real one would have made. */
const STAND_INS = {
  uv: `echo "uv $*"
case "$1" in
  venv) for target; do :; done; mkdir -p "$target/bin"; ln -s "$(command -v python3)" "$target/bin/python" ;;
  sync) mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"; printf '#!/bin/sh\\necho tool of uv' > "$UV_PROJECT_ENVIRONMENT/bin/tool" ;;
esac
chmod +x "$UV_PROJECT_ENVIRONMENT/bin/tool" 2>/dev/null; true`,
  conda: `echo "conda $*"; mkdir -p "$4/bin"; printf '#!/bin/sh\\necho tool of conda' > "$4/bin/tool"; chmod +x "$4/bin/tool"`,
};

test('uv and conda are called where they are installed, and their programs come first', async (t) => {
  const bin = await programs(t, STAND_INS);
  const service = await startService(t, { config: testConfig({ read_only: [bin] }) });
  const files = {
    'a.sh': 'tool',
    'requirements.txt': 'tiny\n',
    'uv.lock': 'version = 1\n',
    'pyproject.toml': '',
    'environment.yml': 'dependencies: []\n',
  };
  const outputFor = async (requirements: string): Promise<string> => {
    const id = await service.submit(files, { script: 'a.sh', venv: { requirements } });
    await service.untilEnd(id);
    return service.output(id);
  };
  const pip = await outputFor('requirements.txt');
  assert.match(
    pip,
    /^uv venv --allow-existing --python \/\S+ (\S+)\nuv pip install --python \1\/bin\/python --compile-bytecode --requirement \S+\/requirements\.txt\n/,
  );
  const sync = await outputFor('uv.lock');
  assert.match(sync, /^uv sync --frozen --compile-bytecode --python \/\S+ --no-install-workspace\ntool of uv\n$/);
  const conda = await outputFor('environment.yml');
  assert.match(conda, /^conda env create --prefix \S+\/conda --file \S+\/environment\.yml\ntool of conda\n$/);
});

const hasUv = findProgram('uv', process.env['PATH'] ?? '') !== undefined;

test('the real uv installs requirements', {
  skip: skip || (hasUv ? false : 'LOUD: uv is not installed on this machine'),
}, async (t) => {
  const wheels = await wheelFolder(t);
  const service = await startService(t, { config: testConfig({ read_only: [wheels] }) });
  const venv = { requirements: 'requirements.txt', env: { UV_FIND_LINKS: wheels, UV_OFFLINE: '1' } };
  for (let times = 0; times < 2; times += 1) {
    const { job, output } = await run(service, FILES, { venv });
    assert.equal(job.state, 'succeeded', job.reason ?? '');
    assert.match(output, /^42 /m);
  }
});
