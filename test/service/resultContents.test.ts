import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { directArchiver } from '../../src/jobs/archives/archiver.ts';
import { directLedger } from '../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../src/jobs/ledger/ledger.ts';
import { type JobRecord, newRecord } from '../../src/jobs/ledger/record.ts';
import { downloadResults } from '../../src/jobs/results/resultDownload.ts';
import { type Decisions, defaultDecisions } from '../../src/jobs/results/placeFiles.ts';
import { ResultJournals } from '../../src/jobs/results/resultJournals.ts';
import { RemoteClient } from '../../src/remote/client.ts';
import { batchEntry, NAME_BYTES, PIECE_HEADER_BYTES, RECORD_BYTES } from '../../src/remote/protocol/contents.ts';
import type { PlannedResult } from '../../src/workspace/results/applyResults.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { readArchive } from './support/archive.ts';
import { ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

// The same numbers in each job, of which one line changes: a checkpoint of 3.4 MB.
const FIRST = 'mkdir out\nseq 1 500000 > out/checkpoint.txt\necho one > out/note.txt\n';
const SECOND =
  "mkdir out\nseq 1 500000 | sed 's/^250000$/changed/' > out/checkpoint.txt\ncp out/checkpoint.txt out/best.txt\necho two > out/note.txt\n";
const MANY =
  "mkdir out\nseq 1 500000 | sed 's/^[0-9]*[05]0000$/changed/' > out/checkpoint.txt\necho three > out/note.txt\n";
const CONTENTS = /\/artifacts\/contents$/;

interface Answer {
  readonly status: number;
  readonly type: string;
  body: Buffer;
}

/** What passes between a client and a service, and what may be changed on the way. */
class Between {
  readonly #server;
  url = '';
  /** The bytes of all answers about results. */
  bytes = 0;
  readonly requests: string[] = [];
  /** Changes an answer; `cut` ends the connection after that many bytes of it. */
  change: (request: IncomingMessage, answer: Answer) => { readonly cut: number } | undefined = () => undefined;

  constructor(service: ServiceClient) {
    this.#server = createServer((request, response) => void this.#pass(service, request, response));
  }

  async listen(t: TestContext): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => this.#server.close());
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async #pass(service: ServiceClient, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const sent = await buffer(request);
    const named = ['content-type', 'idempotency-key'].map((name) => [name, request.headers[name]]);
    const headers = Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Record<string, string>;
    const body = sent.length > 0 ? new Uint8Array(sent) : null;
    const received = await service.request(url, { method, headers, body });
    const type = received.headers.get('content-type') ?? '';
    const answer = { status: received.status, type, body: Buffer.from(await received.arrayBuffer()) };
    this.requests.push(`${method} ${url.replace(/[0-9a-f]{20}/, 'ID')}`);
    const cut = this.change(request, answer)?.cut;
    const passed = answer.body.subarray(0, cut);
    if (url.includes('/artifacts')) this.bytes += passed.length;
    response.writeHead(answer.status, { 'content-type': answer.type, 'content-length': answer.body.length });
    response.write(passed, () => (cut === undefined ? response.end() : response.destroy()));
  }
}

interface Setting {
  readonly service: ServiceClient;
  readonly between: Between;
  readonly folder: string;
  readonly home: string;
  /** Runs a script until it ends. */
  readonly run: (script: string) => Promise<JobRecord>;
  readonly download: (record: JobRecord, decide?: (plan: readonly PlannedResult[]) => Decisions) => Promise<void>;
}

async function setUp(t: TestContext, account?: ServiceClient, own?: ServiceClient): Promise<Setting> {
  const service = own ?? (await startService(t));
  const client = account ?? service;
  const between = await new Between(client).listen(t);
  const [home, folder] = [await temporaryFolder(t), await temporaryFolder(t)];
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const remote = new RemoteClient(between.url, client.key);
  t.after(() => remote.close());
  const deps = {
    service: remote,
    archiver: directArchiver,
    ledger: directLedger(jobs),
    home,
    journals: new ResultJournals(home),
  };
  return {
    service,
    between,
    folder,
    home,
    async run(script) {
      const jobId = await client.submit({ 'a.sh': script }, { script: 'a.sh' });
      assert.equal((await client.untilEnd(jobId)).state, 'succeeded');
      const host = between.url;
      const createdAt = new Date().toISOString();
      const known = { id: jobId, jobId, host, state: 'succeeded', script: 'a.sh', maxRuntime: 60, folder, createdAt };
      const record = newRecord(known);
      jobs.insert(record);
      return record;
    },
    async download(record, decide = overwrite) {
      between.bytes = 0;
      between.requests.length = 0;
      await downloadResults(deps, record.id, { decide });
    },
  };
}

function overwrite(plan: readonly PlannedResult[]): Decisions {
  return new Map(plan.map(({ path, status }) => [path, status === 'same' ? 'skip' : 'write']));
}

/** Checks that the files in the folder are those of the job's archive. */
async function assertSame({ service, folder }: Setting, { jobId }: JobRecord): Promise<void> {
  const response = await service.request(`/v1/jobs/${jobId}/artifacts`);
  const expected = await readArchive(new Uint8Array(await response.arrayBuffer()));
  assert.ok(Object.keys(expected).length > 1);
  for (const [path, text] of Object.entries(expected)) {
    assert.ok(readFileSync(join(folder, path), 'utf8') === text, path);
  }
}

const isClean = ({ home }: Setting): void => assert.deepEqual(readdirSync(join(home, 'downloads')), []);

test('of results that are mostly the last ones, only what changed is sent, and they are the same as from the archive', async (t) => {
  const setting = await setUp(t);
  const { between, folder, run, download } = setting;
  const first = await run(FIRST);
  await download(first);
  await assertSame(setting, first);
  assert.deepEqual(between.requests, ['GET /v1/me', 'GET /v1/jobs/ID/artifacts/contents', 'GET /v1/jobs/ID/artifacts']);
  const whole = between.bytes;
  const second = await run(SECOND);
  await download(second);
  await assertSame(setting, second);
  assert.deepEqual(between.requests, [
    'GET /v1/me',
    'GET /v1/jobs/ID/artifacts/contents',
    'POST /v1/jobs/ID/artifacts/contents',
  ]);
  assert.ok(between.bytes < whole / 4, `${between.bytes} of ${whole} bytes`);
  isClean(setting);
  // One of two files with the same contents was changed since.
  writeFileSync(join(folder, 'out/checkpoint.txt'), 'mine');
  await download(await run(SECOND), defaultDecisions);
  assert.ok(between.bytes < whole / 4, `${between.bytes} of ${whole} bytes, from the copy with another name`);
  assert.equal(readFileSync(join(folder, 'out/checkpoint.txt'), 'utf8'), 'mine');
  const beside = readdirSync(join(folder, 'out')).find((name) => name.startsWith('checkpoint (job')) ?? '';
  assert.equal(readFileSync(join(folder, 'out', beside), 'utf8').split('\n')[249_999], 'changed');
  isClean(setting);
});

test('an upload that is changed by its job comes home as what changed of it', async (t) => {
  await using scratch = await Scratch.create();
  const { url, key, data: path } = await scratch.serve();
  const between = await new Between(new ServiceClient({ url, key }, path)).listen(t);
  const env = { FARWHARF_REMOTE_HOST: between.url, FARWHARF_API_KEY: key };
  const script = 'printf changed | dd of=data.bin bs=1 seek=1500000 conv=notrunc 2>/dev/null\n';
  const folder = await scratch.folder('project', { 'a.sh': script });
  const data = randomBytes(3_000_000);
  writeFileSync(join(folder, 'data.bin'), data);
  const submitted = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch', '--json'], { env });
  assert.equal(submitted.exit, 0, submitted.stderr);
  between.bytes = 0;
  const id = String(jsonLines(submitted.stdout)[0]?.['job_id']);
  const done = await scratch.run(['download', id, '--on-conflict', 'overwrite'], { env });
  assert.equal(done.exit, 0, done.stderr);
  data.write('changed', 1_500_000);
  assert.ok(readFileSync(join(folder, 'data.bin')).equals(data));
  assert.ok(between.bytes > 0 && between.bytes < 700_000, `${between.bytes} bytes`);
});

test('a download that is cut at several places continues with what is still lacking', async (t) => {
  const setting = await setUp(t);
  const { between, run, download } = setting;
  await download(await run(FIRST));
  const second = await run(MANY);
  const cuts = [5, 70_000, 36, 80_000, 0, 1];
  let left = cuts.length;
  between.change = ({ method = '', url = '' }) => {
    if (method !== 'POST' || !CONTENTS.test(url) || left === 0) return undefined;
    left -= 1;
    return { cut: cuts[left] ?? 0 };
  };
  await download(second);
  assert.equal(left, 0);
  assert.ok(between.requests.filter((request) => request.startsWith('POST')).length > cuts.length);
  await assertSame(setting, second);
  isClean(setting);
});

test('contents with another hash, more bytes than said, or none at all are refused, and nothing is written', async (t) => {
  const setting = await setUp(t);
  const { between, folder, run, download } = setting;
  await download(await run(FIRST));
  const note = readFileSync(join(folder, 'out/note.txt'), 'utf8');
  const second = await run(SECOND);
  /** The first piece of a body, and the rest. */
  const firstOf = (body: Buffer) => {
    const end = PIECE_HEADER_BYTES + body.readUInt32LE(NAME_BYTES);
    const frame = body.subarray(PIECE_HEADER_BYTES, end);
    return { name: body.subarray(0, NAME_BYTES), bytes: zstdDecompressSync(frame), rest: body.subarray(end) };
  };
  const pieces: Record<string, (body: Buffer) => Buffer> = {
    'another hash': (body) => {
      const { name, bytes, rest } = firstOf(body);
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      return Buffer.concat([...batchEntry(name, zstdCompressSync(bytes)), rest]);
    },
    'more bytes': (body) => {
      const { name, bytes, rest } = firstOf(body);
      return Buffer.concat([...batchEntry(name, zstdCompressSync(Buffer.concat([bytes, bytes]))), rest]);
    },
    'a bomb': (body) => {
      const { name, rest } = firstOf(body);
      return Buffer.concat([...batchEntry(name, zstdCompressSync(Buffer.alloc(50_000_000))), rest]);
    },
    'a frame without end': (body) => {
      body.writeUInt32LE(0xffff_ffff, NAME_BYTES);
      return body;
    },
    'what was not asked for': (body) => {
      const other = randomBytes(100);
      return Buffer.concat([...batchEntry(randomBytes(NAME_BYTES), zstdCompressSync(other)), body]);
    },
    nothing: () => Buffer.alloc(0),
  };
  for (const [name, change] of Object.entries(pieces)) {
    between.change = ({ method = '', url = '' }, answer) => {
      if (method === 'POST' && CONTENTS.test(url)) answer.body = change(answer.body);
      return undefined;
    };
    await assert.rejects(download(second), { code: 'corrupt', message: /nothing was saved/ }, name);
    assert.equal(readFileSync(join(folder, 'out/note.txt'), 'utf8'), note, name);
    isClean(setting);
  }
  const records: Record<string, (body: Buffer) => Buffer> = {
    'a cut record': (body) => body.subarray(1),
    'an endless stream': (body) => {
      const large = Buffer.from(body.subarray(0, RECORD_BYTES));
      large.writeUInt32LE(0xffff_ffff, NAME_BYTES);
      return Buffer.concat([large, body]);
    },
    'a piece of two sizes': (body) => {
      const twin = Buffer.from(body.subarray(0, RECORD_BYTES));
      twin.writeUInt32LE(1, NAME_BYTES);
      return Buffer.concat([body, twin]);
    },
    'too large a stream': (body) => {
      const large = Buffer.from(body.subarray(0, RECORD_BYTES));
      large.writeUInt32LE(256 * 1024, NAME_BYTES);
      return Buffer.alloc(90_000 * RECORD_BYTES, large);
    },
  };
  for (const [name, change] of Object.entries(records)) {
    between.change = ({ method = '', url = '' }, answer) => {
      if (method === 'GET' && CONTENTS.test(url)) answer.body = change(answer.body);
      return undefined;
    };
    await assert.rejects(download(second), { code: 'corrupt', message: /nothing was saved/ }, name);
    isClean(setting);
  }
  between.change = () => undefined;
  await download(second);
  await assertSame(setting, second);
});

test('the archive is downloaded where contents are not offered, refused, or nothing of them is here', async (t) => {
  const setting = await setUp(t);
  const { between, run, download, home } = setting;
  await download(await run(FIRST));
  const second = await run(SECOND);
  const whole = (requests: readonly string[]): void => {
    assert.equal(requests.at(-1), 'GET /v1/jobs/ID/artifacts');
  };
  between.change = ({ url = '' }, answer) => {
    if (url === '/v1/me') answer.body = Buffer.from(JSON.stringify({ account_id: 'ada', features: ['content'] }));
    return undefined;
  };
  await download(second);
  whole(between.requests);
  assert.equal(between.requests.length, 2);
  await assertSame(setting, second);
  between.change = ({ url = '' }, answer) => {
    if (CONTENTS.test(url)) Object.assign(answer, { status: 404, body: Buffer.from('{"detail":"none"}') });
    return undefined;
  };
  await download(second);
  whole(between.requests);
  between.change = () => undefined;
  for (const name of readdirSync(join(home, 'placed'))) writeFileSync(join(home, 'placed', name), '{"format":');
  await download(second);
  whole(between.requests);
  rmSync(join(home, 'placed'), { recursive: true });
  mkdirSync(join(home, 'placed'));
  await download(second);
  whole(between.requests);
  await assertSame(setting, second);
});

test('nobody learns what results of another account consist of, or gets their pieces', async (t) => {
  const service = await startService(t, { config: testConfig({ isolation: 'none' }) });
  const { client: ada } = await addAccount(service, 'ada');
  const { client: bob } = await addAccount(service, 'bob');
  const id = await ada.submit({ 'a.sh': FIRST }, { script: 'a.sh' });
  await ada.untilEnd(id);
  const path = `/v1/jobs/${id}/artifacts/contents`;
  const records = Buffer.from(await (await ada.request(path)).arrayBuffer());
  const bits = Buffer.alloc(Math.ceil(records.length / RECORD_BYTES / 8), 0xff);
  assert.ok(records.length > RECORD_BYTES);
  const post = (client: ServiceClient, body: Buffer) =>
    client.request(path, { method: 'POST', body: new Uint8Array(body) });
  assert.equal((await bob.request(path)).status, 404);
  assert.equal((await post(bob, bits)).status, 404);
  assert.equal((await post(ada, Buffer.concat([bits, bits]))).status, 413);
  assert.equal((await post(ada, bits.subarray(1))).status, 400);
  const all = Buffer.from(await (await post(ada, bits)).arrayBuffer());
  assert.ok(all.length > records.length);
});

test('results are offered after the job has ended, as long as they are kept', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'sleep 600\n' }, { script: 'a.sh' });
  await service.untilRunning(id);
  const path = `/v1/jobs/${id}/artifacts/contents`;
  assert.equal((await service.request(path)).status, 409);
  await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
  await service.untilEnd(id);
  assert.equal((await service.request(path)).status, 200);
  rmSync(join(service.data, 'jobs', id, 'results.tar.gz'));
  assert.equal((await service.request(`/v1/jobs/${id}/artifacts/contents`)).status, 404);
});
