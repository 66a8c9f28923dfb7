import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { addAccount } from './support/accounts.ts';
import { isolateJobs, isolationIsMissing, testedIsolation } from './support/isolation.ts';
import { programs } from './support/packages.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

if ((await isolationIsMissing()) === undefined) isolateJobs();

// Stands in for npm, so that a build takes as long as the test wants.
const FILES = { 'a.sh': 'tool', 'package.json': '{}', 'package-lock.json': '{"lockfileVersion":3,"packages":{}}' };
const META = { script: 'a.sh', venv: { requirements: 'package-lock.json' } };
const INSTALLED = /^installed$/m;
const READY = /the environment of package-lock\.json is ready/;

interface Builds {
  readonly service: ServiceClient;
  /** Lets builds go on. */
  readonly open: () => Promise<void>;
}

/** A service whose builds wait until they are let go on. They fail for a package that says so. */
async function startWithBuilds(t: TestContext, limits: { readonly environments_gb?: number } = {}): Promise<Builds> {
  const gates = await temporaryFolder(t);
  const gate = join(gates, 'gate');
  const npm = `while [ ! -e ${gate} ]; do sleep 0.05; done
grep -q broken package.json && { echo "the package is broken"; exit 1; }
mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho used' > node_modules/.bin/tool; chmod +x node_modules/.bin/tool; echo installed; echo "token: \${TOKEN:+seen}"`;
  const bin = await programs(t, { npm });
  const config = testConfig({ read_only: [bin, gates], max_jobs: 4 });
  const service = await startService(t, { config: { ...config, limits: { ...config.limits, ...limits } } });
  return { service, open: () => writeFile(gate, '') };
}

async function end(service: ServiceClient, id: string) {
  const job = await service.untilEnd(id);
  return { job, output: await service.output(id), notes: await service.output(id, 'stderr') };
}

async function run(service: ServiceClient, files: Readonly<Record<string, string>> = FILES, meta: object = {}) {
  return end(service, await service.submit(files, { ...META, ...meta }));
}

/** A job that builds, and one that waits for it. */
async function builderAndWaiter(service: ServiceClient, files: Readonly<Record<string, string>>) {
  const builder = await service.submit(files, META);
  await service.untilOutput(builder, /building the environment/, 'stderr');
  const waiter = await service.submit(files, META);
  await service.untilOutput(waiter, new RegExp(`waiting for the job ${builder}`), 'stderr');
  return { builder, waiter };
}

test('two jobs wait for one build', async (t) => {
  const { service, open } = await startWithBuilds(t);
  const { builder, waiter } = await builderAndWaiter(service, FILES);
  const another = await service.submit(FILES, META);
  await open();
  const ends = await Promise.all([builder, waiter, another].map((id) => end(service, id)));
  assert.deepEqual(
    ends.map(({ job, output }) => [job.state, INSTALLED.test(output), output.endsWith('used\n')]),
    [
      ['succeeded', true, true],
      ['succeeded', false, true],
      ['succeeded', false, true],
    ],
  );
});

test('a build that fails fails the jobs that wait for it, and is tried again by the next', async (t) => {
  const { service, open } = await startWithBuilds(t);
  const files = { ...FILES, 'package.json': '{"name":"broken"}' };
  const { builder, waiter } = await builderAndWaiter(service, files);
  await open();
  for (const id of [builder, waiter]) {
    const { job, output } = await end(service, id);
    assert.equal(job.state, 'failed');
    assert.match(job.reason ?? '', /packages of package-lock\.json could not be installed/);
    assert.equal(/the package is broken/.test(output), id === builder);
    assert.equal(job.started_at, null, 'unlike a script that failed');
  }
  assert.match((await run(service, files)).output, /the package is broken/);
});

test('a build that is cancelled leaves the work to a job that waits, which has it all', async (t) => {
  const { service, open } = await startWithBuilds(t);
  const { builder, waiter } = await builderAndWaiter(service, FILES);
  await service.json(`/v1/jobs/${builder}`, { method: 'DELETE' });
  assert.equal((await service.untilEnd(builder)).state, 'cancelled');
  await open();
  const { job, output } = await end(service, waiter);
  assert.equal(job.state, 'succeeded', job.reason ?? '');
  assert.match(output, INSTALLED);
});

test('a build that was killed counts for nothing', async (t) => {
  const { service, open } = await startWithBuilds(t);
  const id = await service.submit(FILES, META);
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
  await open();
  const next = await run(service);
  assert.equal(next.job.state, 'succeeded', next.job.reason ?? '');
  assert.match(next.output, INSTALLED);
  assert.ok(!existsSync(left));
});

test('accounts share no environment', async (t) => {
  const { service, open } = await startWithBuilds(t);
  await open();
  const features = async (): Promise<readonly string[]> =>
    (await service.json<{ features: string[] }>('/v1/me')).features;
  assert.ok((await features()).includes('environments'));
  const { client: bob } = await addAccount(service, 'bob');
  // Without isolation, a job could change what jobs of others use.
  assert.equal((await features()).includes('environments'), testedIsolation() !== 'none');
  assert.match((await run(service)).output, INSTALLED);
  assert.match((await run(bob)).output, INSTALLED);
  if (testedIsolation() === 'none') return;
  assert.match((await run(service)).notes, READY);
  assert.equal((await bob.json<{ environments: unknown[] }>('/v1/environments')).environments.length, 1);
});

test('a change of the list is another environment', async (t) => {
  const { service, open } = await startWithBuilds(t);
  await open();
  assert.match((await run(service)).output, INSTALLED);
  assert.match((await run(service, { ...FILES, 'other.txt': 'another folder' })).notes, READY);
  assert.match((await run(service, { ...FILES, 'package.json': '{ }' })).output, INSTALLED);
});

test('a service that keeps no environments builds them for each job', async (t) => {
  const { service, open } = await startWithBuilds(t, { environments_gb: 0 });
  await open();
  assert.ok(!(await service.json<{ features: string[] }>('/v1/me')).features.includes('environments'));
  for (let times = 0; times < 2; times += 1) assert.match((await run(service)).output, INSTALLED);
});

test('a secret of a job is in nothing that is kept', async (t) => {
  const { service, open } = await startWithBuilds(t);
  await open();
  const init = { method: 'PUT', body: JSON.stringify({ value: 'value-of-the-token' }) };
  await service.json('/v1/secrets/TOKEN', init);
  const files = { ...FILES, 'a.sh': 'tool; echo "script: ${TOKEN:+seen}"' };
  const secrets = ['TOKEN'];
  assert.match((await run(service, files, { secrets })).output, /^token: \n.*^script: seen\n/ms);
  assert.match((await run(service, files, { secrets })).notes, READY);
  const named = { ...files, 'package.json': '{"description":"${TOKEN}"}' };
  const own = await run(service, named, { secrets });
  assert.match(own.notes, /for this job only: package-lock\.json contains the secret TOKEN/);
  assert.match(own.output, /^token: seen$/m);
  const asked = await run(service, files, { secrets, venv: { ...META.venv, keep: false } });
  assert.match(asked.notes, /for this job only: .*"keep": false/);
  assert.match(asked.output, INSTALLED);
});
