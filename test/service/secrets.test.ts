import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createLogger } from '../../src/core/log.ts';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { addAccount } from './support/accounts.ts';
import { readArchive } from './support/archive.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { describeOnCluster, onCluster } from './support/slurm.ts';

const VALUE = 'zebra"crossing/42+\nsecond-line-of-the-key';
const SECRET = { script: 'a.mjs', secrets: ['API_TOKEN'] };
const LEAKY = `
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const value = process.env.API_TOKEN;
console.log(value.length, JSON.stringify({ value }), encodeURIComponent(value), Buffer.from(value).toString('base64'));
for (const character of 'in pieces: ' + value + '\\n') { process.stdout.write(character); await sleep(2); }
console.error('error: ' + value);
writeFileSync(value.split('\\n')[1] + '.txt', 'a name with a secret');
writeFileSync('fine.txt', 'fine');
process.exit(3);
`;
const PARTS = /zebra"crossing|zebra\\"crossing|second-line-of|zebra%22|emVicmEi/;

function put(client: ServiceClient, name: string, body: string): Promise<Response> {
  return client.request(`/v1/secrets/${name}`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/json' },
  });
}

async function setSecret(client: ServiceClient, name: string, value: string): Promise<void> {
  const response = await put(client, name, JSON.stringify({ value }));
  assert.equal(response.status, 200, await response.text());
}

/** The files below a folder that contain the secret. */
function filesWith(folder: string): readonly string[] {
  return globSync('**/*', { cwd: folder }).filter((name) => {
    const path = join(folder, name);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    const bytes = readFileSync(path);
    const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
    return PARTS.test(text);
  });
}

test('a job gets its secret, and no event, list, reason or file of the service shows it, however it is printed', async (t) => {
  const log: string[] = [];
  const service = await startService(
    t,
    {},
    createLogger((_level, line) => log.push(line)),
  );
  const before = await service.json<{ features: string[] }>('/v1/me');
  assert.ok(before.features.includes('secrets'));
  await setSecret(service, 'API_TOKEN', VALUE);
  const id = await service.submit({ 'a.mjs': LEAKY }, SECRET);
  const job = await service.untilEnd(id);
  assert.equal(job.exit_code, 3, String(job.reason));
  const output = await service.output(id);
  assert.match(output, new RegExp(`^${VALUE.length} \\{"value":"\\[redacted\\]"\\} \\[redacted\\] \\[redacted\\]\n`));
  assert.match(output, /in pieces: \[redacted\]\n/);
  assert.match(await service.output(id, 'stderr'), /error: \[redacted\]\n/);
  const events = await service.events(id);
  const artifacts = events.filter(({ event }) => event === 'artifact').map(({ data }) => data['path']);
  assert.deepEqual(artifacts, ['fine.txt']);
  const lists = [events, await service.json('/v1/jobs'), job, await service.json('/v1/secrets'), log];
  assert.doesNotMatch(JSON.stringify(lists), PARTS);
  assert.deepEqual(filesWith(service.data), []);
});

test('a secret is removed from text files among results if its account asks for that, and only then', async (t) => {
  const service = await startService(t);
  assert.ok((await service.json<{ features: string[] }>('/v1/me')).features.includes('redacted-results'));
  const wrong = await put(service, 'API_TOKEN', JSON.stringify({ value: VALUE, redact_results: 'yes' }));
  assert.deepEqual([wrong.status, await wrong.json()], [400, { detail: 'redact_results must be true or false.' }]);
  await put(service, 'API_TOKEN', JSON.stringify({ value: 'replaced-later', redact_results: true }));
  await setSecret(service, 'API_TOKEN', VALUE);
  await setSecret(service, 'OTHER', 'not-asked-for');
  const { secrets } = await service.json<{ secrets: Record<string, unknown>[] }>('/v1/secrets');
  assert.deepEqual(
    secrets.map(({ name, redact_results: redacts }) => [name, redacts]),
    [
      ['API_TOKEN', true],
      ['OTHER', undefined],
    ],
  );
  const script = `printf '%s' "$API_TOKEN" | tee raw.txt | base64 > base64.txt; printf '\\0%s' "$API_TOKEN" > raw.bin; printf %s "$OTHER" > other.txt`;
  const job = { script: 'a.sh', secrets: ['API_TOKEN', 'OTHER'] };
  const id = await service.submit({ 'a.sh': script }, job);
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
  const archive = await service.request(`/v1/jobs/${id}/artifacts`);
  const files = await readArchive(new Uint8Array(await archive.arrayBuffer()));
  const { 'base64.txt': base64, ...others } = files;
  assert.match(base64 ?? '', /^\[redacted\]=*\n$/);
  assert.deepEqual(others, { 'other.txt': 'not-asked-for', 'raw.bin': `\0${VALUE}`, 'raw.txt': '[redacted]' });
  const events = await service.events(id);
  const sizes = events.filter(({ event }) => event === 'artifact').map(({ data }) => [data['path'], data['size']]);
  assert.deepEqual(
    sizes,
    ['base64.txt', 'other.txt', 'raw.bin', 'raw.txt'].map((path) => [path, Buffer.byteLength(files[path] ?? '')]),
  );
  assert.match(JSON.stringify(events), /Secrets were removed from base64\.txt, raw\.txt\./);
  const contents = await service.request(`/v1/jobs/${id}/artifacts/contents`);
  assert.equal(contents.status, 200);
  assert.equal((await contents.arrayBuffer()).byteLength % 36, 0);
  await put(service, 'API_TOKEN', JSON.stringify({ value: VALUE, redact_results: false }));
  const again = await service.submit({ 'a.sh': script }, job);
  await service.untilEnd(again);
  const unchanged = await service.request(`/v1/jobs/${again}/artifacts`);
  assert.equal((await readArchive(new Uint8Array(await unchanged.arrayBuffer())))['raw.txt'], VALUE);
});

test('no process shows a secret in its arguments, and only the programs of the job have it as a variable', async (t) => {
  const service = await startService(t);
  await setSecret(service, 'API_TOKEN', 'visible-nowhere-4711');
  const id = await service.submit({ 'a.sh': `echo started\n${GATE}` }, { script: 'a.sh', secrets: ['API_TOKEN'] });
  await service.untilRunning(id);
  const found = { arguments: 0, variables: 0 };
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const read = (name: string): string => {
      try {
        return readFileSync(join('/proc', pid, name), 'latin1');
      } catch {
        return ''; // ended, or of another user
      }
    };
    if (read('cmdline').includes('visible-nowhere-4711')) found.arguments += 1;
    if (!read('environ').includes('visible-nowhere-4711')) continue;
    found.variables += 1;
    assert.doesNotMatch(read('cmdline'), /jobRunner|bwrap|taskset|prlimit/);
  }
  assert.equal(found.arguments, 0);
  assert.ok(found.variables > 0);
  assert.deepEqual(filesWith(service.data), []);
  await openGate(service.data, id);
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
});

test('names that change how programs load, and values that are too short or too large, are refused without being repeated', async (t) => {
  const log: string[] = [];
  const service = await startService(
    t,
    {},
    createLogger((_level, line) => log.push(line)),
  );
  const names =
    'LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES NODE_OPTIONS PATH PYTHONPATH PYTHONSTARTUP BASH_ENV ENV IFS HOME PERL5OPT';
  for (const name of [
    ...names.split(' '),
    'FARWHARF_NODE',
    'SLURM_CONF',
    'GIT_SSH_COMMAND',
    'lower',
    '1A',
    'A-B',
    'A%00B',
    'A'.repeat(65),
  ]) {
    const response = await put(service, name, JSON.stringify({ value: VALUE }));
    assert.equal(response.status, 400, name);
    const meta = { script: 'a.sh', secrets: [decodeURIComponent(name)] };
    assert.equal((await service.send({ 'a.sh': 'true' }, meta)).status, 400, name);
  }
  for (const name of ['GITHUB_TOKEN', 'GIT_TOKEN', 'NODE_AUTH_TOKEN', 'AWS_SECRET_ACCESS_KEY', '_X']) {
    assert.equal((await put(service, name, JSON.stringify({ value: VALUE }))).status, 200, name);
  }
  const bodies: [string, number][] = [
    [`{"value": "${'q'.repeat(20)}-broken`, 400],
    [JSON.stringify({ value: 'abc' }), 400],
    [JSON.stringify({ value: 7_777_777 }), 400],
    [JSON.stringify({ value: 'nul\0byte' }), 400],
    [JSON.stringify({ value: 'q'.repeat(33_000) }), 400],
    [JSON.stringify({ value: 'q'.repeat(3_000_000) }), 413],
  ];
  for (const [body, status] of bodies) {
    const response = await put(service, 'TOKEN', body);
    assert.equal(response.status, status, body.slice(0, 30));
    assert.doesNotMatch(await response.text(), /qqq|abc|7777|nul/);
  }
  assert.match(await (await put(service, 'TOKEN', '[]')).text(), /"The body must be an object\."/);
  assert.match(await (await put(service, 'TOKEN', '{"value":5}')).text(), /"The value of a secret must be a string\."/);
  assert.doesNotMatch(log.join('\n'), /qqq|zebra/);
});

test('an account neither lists, uses, replaces nor removes the secrets of another, nor learns of them', async (t) => {
  const service = await startService(t, { config: testConfig({ isolation: 'none' }) });
  const { client: ada } = await addAccount(service, 'ada');
  const { client: bob } = await addAccount(service, 'bob');
  await setSecret(ada, 'API_TOKEN', VALUE);
  assert.deepEqual(await bob.json('/v1/secrets'), { secrets: [] });
  const detail = async (response: Response) => [
    response.status,
    ((await response.json()) as { detail: string }).detail,
  ];
  const remove = (name: string) => bob.request(`/v1/secrets/${name}`, { method: 'DELETE' });
  assert.deepEqual(
    (await detail(await remove('API_TOKEN'))).join().replace('API_TOKEN', 'X'),
    (await detail(await remove('NO_TOKEN'))).join().replace('NO_TOKEN', 'X'),
  );
  const refused = await detail(await bob.send({ 'a.mjs': LEAKY }, SECRET));
  assert.deepEqual(refused, [400, 'meta.secrets: API_TOKEN is not set. Set it with farwharf secret set NAME.']);
  await setSecret(bob, 'API_TOKEN', 'the one of bob');
  const script = { 'a.sh': 'test "$API_TOKEN" = "the one of bob"' };
  const id = await bob.submit(script, { script: 'a.sh', secrets: ['API_TOKEN'] });
  assert.equal((await bob.untilEnd(id)).state, 'succeeded');
  assert.equal((await ada.json<{ secrets: unknown[] }>('/v1/secrets')).secrets.length, 1);
});

test('a key with scopes reaches secrets only with the scope for them', async (t) => {
  const service = await startService(t);
  await setSecret(service, 'API_TOKEN', VALUE);
  using admin = await openAdmin(service.data, { mayCreate: false });
  const keyWith = async (...scopes: ('submit' | 'read' | 'secrets')[]) =>
    service.withKey((await admin.call('keys.add', { account_id: 'local', scopes })).key);
  const agent = await keyWith('submit', 'read');
  const statuses = async (client: ServiceClient) => [
    (await client.request('/v1/secrets')).status,
    (await put(client, 'OTHER', JSON.stringify({ value: VALUE }))).status,
    (await client.request('/v1/secrets/OTHER', { method: 'DELETE' })).status,
    (await client.send({ 'a.mjs': LEAKY }, SECRET)).status,
  ];
  assert.deepEqual(await statuses(agent), [403, 403, 403, 403]);
  assert.deepEqual(await statuses(await keyWith('submit', 'read', 'secrets')), [200, 200, 200, 201]);
});

test('a secret that is removed while a job waits is not given to it, and one that is replaced is', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(1) });
  await setSecret(service, 'API_TOKEN', VALUE);
  await setSecret(service, 'OTHER', VALUE);
  const first = await service.submit({ 'a.sh': GATE }, { script: 'a.sh' });
  await service.untilRunning(first);
  const removed = await service.submit({ 'a.mjs': LEAKY }, SECRET);
  const script = { 'a.sh': 'test "$OTHER" = new-value' };
  const replaced = await service.submit(script, { script: 'a.sh', secrets: ['OTHER', 'OTHER'] });
  await service.request('/v1/secrets/API_TOKEN', { method: 'DELETE' });
  await setSecret(service, 'OTHER', 'new-value');
  await openGate(service.data, first);
  const job = await service.untilEnd(removed);
  assert.deepEqual([job.state, job.credits_charged], ['failed', 0]);
  assert.match(job.reason ?? '', /The secret API_TOKEN was removed after the job had been submitted/);
  assert.equal((await service.untilEnd(replaced)).state, 'succeeded');
});

test('a service that is killed leaves no secret on disk, and the next one still removes it from what a job prints', async (t) => {
  const home = await temporaryFolder(t);
  const first = await ServiceProcess.start(home);
  t.after(() => first.end('SIGKILL'));
  await setSecret(first.client, 'API_TOKEN', VALUE);
  const script = `${GATE}\necho "late: $API_TOKEN"\ntouch "$(echo "$API_TOKEN" | tail -n 1)"`;
  const id = await first.client.submit({ 'a.sh': script }, { script: 'a.sh', secrets: ['API_TOKEN'] });
  await first.client.untilRunning(id);
  await first.end('SIGKILL');
  assert.deepEqual(filesWith(home), []);
  const second = await ServiceProcess.start(home);
  t.after(() => second.end('SIGTERM'));
  await openGate(second.client.data, id);
  assert.equal((await second.client.untilEnd(id)).state, 'succeeded');
  assert.equal(await second.client.output(id), 'late: [redacted]\n');
  assert.doesNotMatch(JSON.stringify(await second.client.events(id)), PARTS);
  await second.end('SIGTERM');
});

await describeOnCluster('secrets on a cluster', (cluster) => {
  test('a job on a cluster gets its secret, which is in no command and no variable of the cluster and no file once it runs', async (t) => {
    const folders = onCluster(cluster());
    const service = await startService(t, folders);
    await setSecret(service, 'API_TOKEN', VALUE);
    const script = `scontrol show job "$SLURM_JOB_ID"; scontrol write batch_script "$SLURM_JOB_ID" -
      tr '\\0' '\\n' < "/proc/$PPID/environ" | grep -c API_TOKEN; echo "got: \${#API_TOKEN} $API_TOKEN"; ls ..`;
    const id = await service.submit(
      { 'a.sh': script },
      { script: 'a.sh', secrets: ['API_TOKEN'], machine_class: 'small' },
    );
    const job = await service.untilEnd(id);
    assert.equal(job.state, 'succeeded', String(job.reason));
    const output = await service.output(id);
    assert.match(output, new RegExp(`^got: ${VALUE.length} \\[redacted\\]$`, 'm'));
    assert.match(output, /^0$/m, 'the runner, which sbatch started, does not have it as a variable');
    assert.match(output, /slurm\.sh|Command=/);
    assert.doesNotMatch(output, /secrets\.json/);
    assert.equal(output.split('[redacted]').length, 2, 'the cluster does not show it either');
    assert.deepEqual([...filesWith(folders.data), ...filesWith(folders.shared)], []);
  });
});
