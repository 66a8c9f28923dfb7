import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { VolumeSettings } from '../../src/service/config/volumesConfig.ts';
import { readConfig } from '../../src/service/serviceConfig.ts';
import { Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { readArchive } from './support/archive.ts';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

const missing = await isolationIsMissing();
const skip = missing === undefined ? false : `NO ISOLATION: ${missing}`;
if (missing === undefined) isolateJobs();

interface Site {
  readonly root: string;
  readonly service: ServiceClient;
  readonly folder: (name: string) => string;
}

/** A service with volumes in folders of its own. */
async function site(
  t: TestContext,
  volumes: readonly (Partial<VolumeSettings> & { name: string })[],
  isolation?: 'none',
): Promise<Site> {
  const root = await temporaryFolder(t);
  const folder = (name: string): string => join(root, name);
  const all = volumes.map(({ name, ...more }) => {
    mkdirSync(folder(name), { recursive: true });
    return { name, folder: folder(name), writable: false, ...more };
  });
  const config = { ...testConfig(isolation && { isolation }), volumes: all };
  return { root, folder, service: await startService(t, { config }) };
}

async function run(service: ServiceClient, script: string, volumes?: readonly string[]) {
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh', ...(volumes && { volumes }) });
  return { id, job: await service.untilEnd(id), output: await service.output(id) };
}

async function refusalOf(service: ServiceClient, volumes: unknown): Promise<string> {
  const response = await service.send({ 'a.sh': 'true' }, { script: 'a.sh', volumes });
  assert.equal(response.status, 400, JSON.stringify(volumes));
  return ((await response.json()) as { detail: string }).detail;
}

test('a job reads and writes the volumes that it names, sees no others, and none of their files is a result', {
  skip,
}, async (t) => {
  const { service, folder } = await site(t, [
    { name: 'data-sets.v2' },
    { name: 'cache', writable: true },
    { name: 'other' },
  ]);
  writeFileSync(join(folder('data-sets.v2'), 'a.txt'), 'rows');
  const script = `
    echo "$FARWHARF_VOLUME_DATA_SETS_V2 $FARWHARF_VOLUME_CACHE"
    cat "$FARWHARF_VOLUME_DATA_SETS_V2/a.txt"; echo
    echo x 2>/dev/null > "$FARWHARF_VOLUME_DATA_SETS_V2/b.txt" || echo read-only
    echo kept > "$FARWHARF_VOLUME_CACHE/model" && ln -s "$FARWHARF_VOLUME_CACHE" link
    ls /volumes; echo made > artifacts/own.txt`;
  const { id, job, output } = await run(service, script, ['cache', 'data-sets.v2', 'cache']);
  assert.equal(job.state, 'succeeded', job.reason ?? '');
  assert.deepEqual(output.trim().split('\n'), [
    '/volumes/data-sets.v2 /volumes/cache',
    'rows',
    'read-only',
    'cache',
    'data-sets.v2',
  ]);
  assert.equal(readFileSync(join(folder('cache'), 'model'), 'utf8'), 'kept\n');
  const archive = await service.request(`/v1/jobs/${id}/artifacts`);
  const results = await readArchive(Buffer.from(await archive.arrayBuffer()));
  assert.deepEqual(Object.keys(results), ['artifacts/own.txt']);
  assert.equal((await run(service, 'ls /volumes || echo none')).output, 'none\n', 'a job that names none has none');
});

test('without isolation, the variable has the folder itself', async (t) => {
  const { service, folder } = await site(t, [{ name: 'a' }], 'none');
  assert.equal((await run(service, 'echo "$FARWHARF_VOLUME_A"', ['a'])).output, `${folder('a')}\n`);
});

test("another account's volume is refused in the same words as one that does not exist, and GET /v1/me lists only one's own", {
  skip,
}, async (t) => {
  const { service } = await site(t, [
    { name: 'all' },
    { name: 'hers', accounts: ['ada'], writable: true },
    { name: 'his', accounts: ['bob'] },
  ]);
  const { client: ada } = await addAccount(service, 'ada');
  const { client: bob } = await addAccount(service, 'bob');
  const listed = async (client: ServiceClient) => (await client.json<{ volumes: unknown }>('/v1/me')).volumes;
  assert.deepEqual(await listed(ada), [
    { name: 'all', writable: false },
    { name: 'hers', writable: true },
  ]);
  assert.deepEqual(await listed(service), [{ name: 'all', writable: false }]);
  assert.equal(await refusalOf(bob, ['hers']), 'meta.volumes: your account has no volume hers. It has all, his.');
  assert.equal(await refusalOf(bob, ['nope']), 'meta.volumes: your account has no volume nope. It has all, his.');
  assert.equal((await run(ada, 'echo "$FARWHARF_VOLUME_HERS"', ['hers'])).output, '/volumes/hers\n');
});

test('names that are paths, options or shell words are refused', async (t) => {
  const { service } = await site(t, [{ name: 'a' }], 'none');
  const hostile = [
    '../a',
    '/etc',
    'a/../../etc',
    '..',
    '.',
    '-a',
    '--bind',
    'a b',
    '$(id)',
    'a;b',
    "a'b",
    'a\nb',
    'a\u0000',
    '',
    'é',
    'x'.repeat(65),
  ];
  for (const name of hostile)
    assert.match(await refusalOf(service, [name]), /^meta\.volumes\.0: /, JSON.stringify(name));
  assert.match(
    await refusalOf(
      service,
      Array.from({ length: 5_000 }, (_, index) => `v${index}`),
    ),
    /at most 16 names/,
  );
  assert.match(await refusalOf(service, 'a'), /^meta\.volumes: /);
  assert.match(await refusalOf(service, ['__proto__']), /^meta\.volumes/);
  assert.match(await refusalOf(service, ['constructor']), /has no volume constructor/);
});

test('what a job puts into a volume leads no other job out of it', { skip }, async (t) => {
  const { service, root, folder } = await site(t, [{ name: 'shared', writable: true }, { name: 'read' }]);
  writeFileSync(join(root, 'outside.txt'), 'outside');
  const attack = `
    cd "$FARWHARF_VOLUME_SHARED"
    ln -s ${root} out; ln -s ${service.data} data; ln -s /volumes/read up
    cd /; rm -rf /volumes/shared; mv /volumes/shared /volumes/x; ln -s ${root} /volumes/new; umount /volumes/read
    mkdir /volumes/more; echo tried`;
  assert.match((await run(service, attack, ['shared', 'read'])).output, /tried/);
  const victim = `
    cd "$FARWHARF_VOLUME_SHARED"; ls -d . ; cat out/outside.txt; ls data/; ls up/; ls /volumes`;
  const { output } = await run(service, victim, ['shared']);
  assert.equal(output, '.\nshared\n', 'the links lead nowhere, and the other volume is not there');
  assert.ok(existsSync(folder('shared')) && !existsSync(join(root, 'new')));
});

test('a folder that was swapped for a link after the start stops the job, and one that is away makes it wait', {
  skip,
}, async (t) => {
  const { service, folder } = await site(t, [{ name: 'a', writable: true }]);
  renameSync(folder('a'), folder('kept'));
  symlinkSync(service.data, folder('a'));
  const swapped = await run(service, 'ls "$FARWHARF_VOLUME_A"', ['a']);
  assert.equal(swapped.job.state, 'failed');
  assert.match(swapped.job.reason ?? '', /The folder of the volume a has changed since the service started/);
  assert.equal(swapped.job.credits_charged, 0);
  renameSync(folder('a'), folder('link'));
  const id = await service.submit({ 'a.sh': 'echo "$FARWHARF_VOLUME_A"' }, { script: 'a.sh', volumes: ['a'] });
  while (!/folder of the volume a is missing/.test((await service.job(id)).reason ?? ''))
    await new Promise((resolve) => setTimeout(resolve, 50));
  renameSync(folder('kept'), folder('a'));
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
});

test('the service does not start with a volume that reaches its own files or another one that jobs can write', {
  skip,
}, async (t) => {
  const root = await temporaryFolder(t);
  const at = (name: string): string => join(root, name);
  for (const name of ['data', 'outer/inner', 'plain', 'secret']) mkdirSync(at(name), { recursive: true });
  writeFileSync(at('secret/key'), 'x');
  writeFileSync(at('file'), '');
  symlinkSync(at('data'), at('link'));
  symlinkSync(at('outer/inner'), at('alias'));
  const start = async (
    volumes: readonly { name: string; folder: string; writable?: boolean }[],
    more: object = {},
    settings: object = {},
  ) => {
    const config = { ...testConfig(settings), volumes: volumes.map((one) => ({ writable: false, ...one })), ...more };
    const service = await startService(t, { config, data: at('data') });
    await service.stop();
  };
  const volume = (name: string, folder: string, writable = false) => ({ name, folder: at(folder), writable });
  const data = { message: /^The volume a: jobs would reach .*data of the service/ };
  await assert.rejects(start([volume('a', 'data')]), data);
  await assert.rejects(start([volume('a', '.')]), data);
  await assert.rejects(start([volume('a', 'link')]), data);
  await assert.rejects(start([{ name: 'a', folder: '/' }]), { code: 'bad-input' });
  await assert.rejects(
    start([volume('a', 'secret')], { secrets: { key_file: at('secret/key') } }),
    /would reach .*secret\/key/,
  );
  await assert.rejects(
    start([volume('a', 'plain')], { log: { ...testConfig().log, file: at('plain/log') } }),
    /would reach .*log/,
  );
  await assert.rejects(start([volume('a', 'gone')]), { code: 'missing', message: /gone does not exist/ });
  await assert.rejects(start([volume('a', 'file')]), /is not a folder/);
  const nested = /^The volumes \w+ and \w+: one of their folders lies in the other/;
  const message = (error: Error): boolean => nested.test(error.message);
  await assert.rejects(start([volume('a', 'outer', true), volume('b', 'outer/inner')]), message);
  await assert.rejects(start([volume('a', 'outer'), volume('b', 'outer/inner', true)]), message);
  await assert.rejects(start([volume('a', 'outer', true), volume('b', 'alias')]), message);
  const inProcess = /^The volume a: .* which all jobs see/;
  const process = (paths: object) =>
    assert.rejects(start([volume('a', 'outer', true)], {}, paths), (error: Error) => inProcess.test(error.message));
  await process({ read_only: [at('outer/inner')] });
  await process({ writable: [at('outer/inner')] });
  await process({ writable: [at('outer')] });
  await start([volume('a', 'outer'), volume('b', 'outer/inner'), volume('c', 'plain', true), volume('d', 'plain')]);
});

test('farwharf submit --volume and a profile name volumes; an unknown one is reported before the upload', async (t) => {
  const { service, folder } = await site(t, [{ name: 'datasets' }, { name: 'cache', writable: true }], 'none');
  await using scratch = await Scratch.create();
  const profiles = { both: { script: 'a.sh', volumes: ['datasets'] } };
  const files = {
    'a.sh': 'echo "<$FARWHARF_VOLUME_DATASETS|$FARWHARF_VOLUME_CACHE>"',
    'farwharf.json': JSON.stringify({ profiles }),
  };
  const project = await scratch.folder('project', files);
  const env = { FARWHARF_REMOTE_HOST: service.url, FARWHARF_API_KEY: service.key };
  const submit = (...options: readonly string[]) => scratch.run(['submit', project, '--watch', ...options], { env });
  const ran = await submit('--script', 'a.sh', '--volume', 'datasets');
  assert.ok(ran.stdout.includes(`<${folder('datasets')}|>`), ran.stderr);
  const asked = await submit('--profile', 'both');
  assert.match(
    asked.stderr,
    /Profile both gives your volume datasets to the job\. You have not allowed this.* --volume datasets/,
  );
  const both = await submit('--profile', 'both', '--volume', 'datasets', '--volume', 'cache');
  assert.ok(both.stdout.includes(`<${folder('datasets')}|${folder('cache')}>`), both.stderr);
  const me = await scratch.run(['me'], { env });
  assert.match(me.stdout, /^Volumes: datasets, cache \(read and write\)\.$/m);
  const wrong = await submit('--script', 'a.sh', '--volume', 'dataset');
  assert.match(
    wrong.stderr,
    /You have no volume dataset on \S+\. Did you mean datasets\? Your volumes: datasets, cache\./,
  );
  assert.equal((await service.json<{ jobs: unknown[] }>('/v1/jobs')).jobs.length, 2);
});

test('names with the same variable, and folders that are no absolute path, are no configuration; --check names a missing folder', async (t) => {
  const root = await temporaryFolder(t);
  const path = join(root, 'service.toml');
  const problemOf = async (text: string): Promise<string> => {
    writeFileSync(path, text);
    return readConfig(path).then(
      () => '',
      (error: unknown) => String(error),
    );
  };
  const section = (name: string, folder = root): string =>
    `[[volumes]]\nname = ${JSON.stringify(name)}\nfolder = ${JSON.stringify(folder)}\n`;
  assert.equal(await problemOf(section('a-b')), '');
  assert.match(
    await problemOf(section('a-b') + section('A.b')),
    /volumes\.1\.name: must not have the variable FARWHARF_VOLUME_A_B of the volume a-b/,
  );
  assert.match(await problemOf(section('a', 'relative')), /volumes\.0\.folder: must be an absolute path/);
  assert.match(await problemOf(section('../a')), /volumes\.0\.name/);
  await using scratch = await Scratch.create();
  writeFileSync(path, section('here') + section('gone', join(root, 'gone')) + section('data', join(root, 'data')));
  const { exit, stdout, stderr } = await scratch.run([
    'serve',
    '--config',
    path,
    '--data',
    join(root, 'data'),
    '--check',
  ]);
  assert.equal(exit, 1);
  const text = stdout + stderr;
  assert.match(text, /PROBLEM +the volume here: .*: The volume here: jobs would reach .*data/);
  assert.match(text, /PROBLEM +the volume gone: .*gone does not exist or is not accessible/);
});
