import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { chmod, readFile, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { findProgram } from '../../src/core/processes/findProgram.ts';
import { addAccount } from './support/accounts.ts';
import { makeArchive } from './support/archive.ts';
import { isolateJobs, isolationIsMissing, testedIsolation } from './support/isolation.ts';
import { skipWithoutPython as skip, wheelFolder } from './support/packages.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

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
async function startWithWheel(t: TestContext, readOnly: readonly string[] = []): Promise<Setting> {
  const wheels = await wheelFolder(t);
  const service = await startService(t, { config: testConfig({ read_only: [wheels, ...readOnly], max_jobs: 4 }) });
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

/** A Python that waits until a file exists before it creates an environment. */
async function gatedPython(t: TestContext): Promise<{ readonly bin: string; open(): Promise<void> }> {
  const bin = await temporaryFolder(t);
  const gate = join(bin, 'gate');
  const python = findProgram('python3', process.env['PATH'] ?? '');
  const wait = `[ "$2" = venv ] && while [ ! -e ${gate} ]; do sleep 0.05; done`;
  await writeFile(join(bin, 'python3'), `#!/bin/sh\n${wait}\nexec ${python} "$@"\n`);
  await chmod(join(bin, 'python3'), 0o755);
  const path = process.env['PATH'];
  process.env['PATH'] = `${bin}${delimiter}${path}`;
  t.after(() => (process.env['PATH'] = path));
  return { bin, open: () => writeFile(gate, '') };
}

test('an environment is built once, and later jobs with the same packages use it', { skip }, async (t) => {
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
  const other = await run(service, { ...FILES, 'requirements.txt': 'tiny\n' }, { venv });
  assert.match(other.output, INSTALLED);
  const { environments } = await service.json<{ environments: Record<string, unknown>[] }>('/v1/environments');
  assert.equal(environments.length, 2);
  for (const { name, bytes, build_seconds: seconds } of environments) {
    assert.equal(name, 'requirements.txt');
    assert.ok(Number(bytes) > 1_000_000 && Number(seconds) > 0);
  }
});

test('a file that requirements include decides what is built too', { skip }, async (t) => {
  const { service, venv } = await startWithWheel(t);
  const files = { 'a.py': SCRIPT, 'requirements.txt': '-r deps/base.txt\n', 'deps/base.txt': 'tiny == 1.0\n' };
  assert.match((await run(service, files, { venv })).output, INSTALLED);
  assert.match((await run(service, files, { venv })).notes, READY);
  assert.match((await run(service, { ...files, 'deps/base.txt': 'tiny >= 1\n' }, { venv })).output, INSTALLED);
});

test('two jobs wait for one build', { skip }, async (t) => {
  const python = await gatedPython(t);
  const { service, venv } = await startWithWheel(t, [python.bin]);
  const builder = await service.submit(FILES, { script: 'a.py', venv });
  await service.untilOutput(builder, /building the environment/, 'stderr');
  const waiters = await Promise.all([1, 2].map(() => service.submit(FILES, { script: 'a.py', venv })));
  for (const id of waiters) await service.untilOutput(id, new RegExp(`waiting for the job ${builder}`), 'stderr');
  await python.open();
  const ends = await Promise.all([builder, ...waiters].map((id) => end(service, id)));
  assert.deepEqual(
    ends.map(({ job, output }) => [job.state, INSTALLED.test(output)]),
    [
      ['succeeded', true],
      ['succeeded', false],
      ['succeeded', false],
    ],
  );
});

test('a build that fails fails the jobs that wait for it, and is tried again by the next', { skip }, async (t) => {
  const python = await gatedPython(t);
  const { service, venv } = await startWithWheel(t, [python.bin]);
  const files = { ...FILES, 'requirements.txt': 'nothing-of-this-name\n' };
  const builder = await service.submit(files, { script: 'a.py', venv });
  await service.untilOutput(builder, /building the environment/, 'stderr');
  const waiter = await service.submit(files, { script: 'a.py', venv });
  await service.untilOutput(waiter, /waiting for the job/, 'stderr');
  await python.open();
  for (const id of [builder, waiter]) {
    const { job, notes } = await end(service, id);
    assert.equal(job.state, 'failed');
    assert.match(job.reason ?? '', /requirements could not be installed/);
    assert.equal(/No matching distribution/.test(notes), id === builder);
    assert.equal(job.started_at, null, 'unlike a script that failed');
  }
  assert.match((await run(service, files, { venv })).notes, /No matching distribution/);
});

test('a build that is cancelled leaves the work to a job that waits, which has it all', { skip }, async (t) => {
  const python = await gatedPython(t);
  const { service, venv } = await startWithWheel(t, [python.bin]);
  const builder = await service.submit(FILES, { script: 'a.py', venv });
  await service.untilOutput(builder, /building the environment/, 'stderr');
  const waiter = await service.submit(FILES, { script: 'a.py', venv });
  await service.untilOutput(waiter, /waiting for the job/, 'stderr');
  await service.json(`/v1/jobs/${builder}`, { method: 'DELETE' });
  assert.equal((await service.untilEnd(builder)).state, 'cancelled');
  await python.open();
  const { job, output } = await end(service, waiter);
  assert.equal(job.state, 'succeeded', job.reason ?? '');
  assert.match(output, INSTALLED);
});

test('a build that was killed counts for nothing', { skip }, async (t) => {
  const python = await gatedPython(t);
  const { service, venv } = await startWithWheel(t, [python.bin]);
  const id = await service.submit(FILES, { script: 'a.py', venv });
  await service.untilOutput(id, /building the environment/, 'stderr');
  const claim = JSON.parse(await readFile(join(service.data, 'jobs', id, 'claim.json'), 'utf8')) as { pid: number };
  process.kill(claim.pid, 'SIGKILL');
  assert.equal((await service.untilEnd(id)).state, 'failed');
  const [lock = ''] = globSync(join(service.data, 'environments/*/*.lock'));
  const [left = ''] = globSync(join(service.data, `environments/*/*/builds/${id}`));
  assert.ok(existsSync(lock) && existsSync(left), 'it left its lock and a part of an environment');
  // As if half a minute had passed.
  const then = new Date(Date.now() - 60_000);
  await utimes(lock, then, then);
  await python.open();
  const next = await run(service, FILES, { venv });
  assert.equal(next.job.state, 'succeeded', next.job.reason ?? '');
  assert.match(next.output, INSTALLED);
  assert.ok(!existsSync(left));
});

test('accounts share no environment', { skip }, async (t) => {
  const { service, venv } = await startWithWheel(t);
  if (testedIsolation() === 'none') {
    assert.ok((await service.json<{ features: string[] }>('/v1/me')).features.includes('environments'));
  }
  const { client: bob } = await addAccount(service, 'bob');
  if (testedIsolation() === 'none') {
    // Without isolation, a job could change what jobs of others use.
    assert.ok(!(await service.json<{ features: string[] }>('/v1/me')).features.includes('environments'));
    return;
  }
  assert.match((await run(service, FILES, { venv })).output, INSTALLED);
  const own = await run(bob, FILES, { venv });
  assert.match(own.output, INSTALLED);
  assert.equal((await bob.json<{ environments: unknown[] }>('/v1/environments')).environments.length, 1);
});

test('no job changes what later jobs use', { skip }, async (t) => {
  if (testedIsolation() === 'none' && process.getuid?.() === 0) {
    t.skip('NO ISOLATION: permissions do not stop root');
    return;
  }
  const { service, venv } = await startWithWheel(t);
  await run(service, FILES, { venv });
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
  const { output } = await run(service, { ...FILES, 'a.py': attack }, { venv });
  assert.equal(output.split('\n').length, 7, output);
  assert.doesNotMatch(output, /CHANGED/);
  const later = await run(service, FILES, { venv });
  assert.equal(later.job.state, 'succeeded');
  assert.match(later.notes, READY);
});

test('a secret that requirements name is in no environment that is kept', { skip }, async (t) => {
  const { service, venv } = await startWithWheel(t);
  await service.json('/v1/secrets/INDEX_TOKEN', {
    method: 'PUT',
    body: JSON.stringify({ value: 'value-of-the-token' }),
  });
  const seen = { ...FILES, 'a.py': `import os; print('INDEX_TOKEN' in os.environ)` };
  const meta = { venv, secrets: ['INDEX_TOKEN'] };
  assert.match((await run(service, seen, meta)).output, /True\n$/, 'the script has it');
  assert.match((await run(service, seen, meta)).notes, READY);
  const named = { ...seen, 'requirements.txt': 'tiny\n# ${INDEX_TOKEN}\n' };
  assert.match(
    (await run(service, named, meta)).notes,
    /for this job only: requirements\.txt contains the secret INDEX_TOKEN/,
  );
  const own = await run(service, seen, { ...meta, venv: { ...venv, keep: false } });
  assert.match(own.notes, /for this job only: .*"keep": false/);
  assert.match(own.output, INSTALLED);
});

test('a service that keeps no environments builds them for each job', { skip }, async (t) => {
  const wheels = await wheelFolder(t);
  const config = testConfig({ read_only: [wheels] });
  const service = await startService(t, { config: { ...config, limits: { ...config.limits, environments_gb: 0 } } });
  assert.ok(!(await service.json<{ features: string[] }>('/v1/me')).features.includes('environments'));
  const venv = { requirements: 'requirements.txt', env: { PIP_FIND_LINKS: wheels, PIP_NO_INDEX: '1' } };
  for (let times = 0; times < 2; times += 1) assert.match((await run(service, FILES, { venv })).output, INSTALLED);
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

/** A folder of programs on the search path of the service. */
async function programs(t: TestContext, scripts: Readonly<Record<string, string>>): Promise<string> {
  const bin = await temporaryFolder(t);
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const path = process.env['PATH'];
  process.env['PATH'] = `${bin}${delimiter}${path}`;
  t.after(() => (process.env['PATH'] = path));
  return bin;
}

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
