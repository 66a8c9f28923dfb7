import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { batchEntry, NAME_BYTES, nameOfPiece, RECORD_BYTES } from '../../src/remote/protocol/contents.ts';
import { encodePack, readPack } from '../../src/service/contents/packFile.ts';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { addAccount } from './support/accounts.ts';
import { makeArchive } from './support/archive.ts';
import { cutArchive, sendTo, submitNames } from './support/contents.ts';
import { recordFileAccess } from './support/fileAccess.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

// Several accounts on one service that takes many requests at once.
const limits = { ...DEFAULT_CONFIG.limits, uploads: 100, all_uploads: 200, requests_per_minute: 100_000 };
const SHARED = { config: { ...testConfig({ isolation: 'none' }), limits } };

async function post(client: ServiceClient, path: string, body: Uint8Array): Promise<readonly [number, string]> {
  const response = await client.request(`/v1/contents/${path}`, { method: 'POST', body: new Uint8Array(body) });
  return [response.status, Buffer.from(await response.arrayBuffer()).toString('hex')];
}

/** A request with pieces, compressed as a client does it. */
function batchOf(pieces: readonly Uint8Array[]): Buffer {
  return Buffer.concat(pieces.flatMap((piece) => batchEntry(nameOfPiece(piece), zstdCompressSync(piece))));
}

async function archiveOf(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(await temporaryFolder(t), 'a.tar.gz');
  writeFileSync(path, await makeArchive(files));
  return path;
}

/** The bytes of all packs of the service's accounts. */
function packBytes(service: ServiceClient): number {
  const packs = globSync('contents/*/*', { cwd: service.data });
  return packs.reduce((sum, path) => sum + statSync(join(service.data, path)).size, 0);
}

async function outputOf(client: ServiceClient, response: Response): Promise<string> {
  const { job_id: id, detail } = (await response.json()) as { job_id: string; detail?: string };
  assert.equal(response.status, 201, detail);
  await client.untilEnd(id);
  return client.output(id);
}

test('guessing: what the results of a job consist of is lacking for every account, as a content of a submission', async (t) => {
  const service = await startService(t, SHARED);
  const { client: ada } = await addAccount(service, 'ada');
  const { client: bob } = await addAccount(service, 'bob');
  const id = await ada.submit({ 'a.sh': 'seq 100000 > numbers.txt\n' }, { script: 'a.sh' });
  await ada.untilEnd(id);
  const answer = await ada.request(`/v1/jobs/${id}/artifacts/contents`);
  const records = Buffer.from(await answer.arrayBuffer());
  const names = Array.from({ length: records.length / RECORD_BYTES }, (_, index) =>
    records.subarray(index * RECORD_BYTES, index * RECORD_BYTES + NAME_BYTES),
  );
  assert.ok(names.length > 0);
  for (const client of [ada, bob]) {
    for (const path of ['lacking', 'lacking-lists']) {
      const asked = await post(client, path, Buffer.concat(names));
      assert.deepEqual(asked, await post(client, path, randomBytes(names.length * NAME_BYTES)));
    }
    assert.equal((await submitNames(client, Buffer.concat(names))).status, 424);
  }
});

test('timing: for a content of another account, the service opens the same files as for one that nobody has', async (t) => {
  const service = await startService(t, SHARED);
  const { client: ada } = await addAccount(service, 'ada');
  const { client: bob } = await addAccount(service, 'bob');
  const archive = await archiveOf(t, { 'a.sh': 'echo secret of ada\n', 'b.txt': 'x'.repeat(300_000) });
  const theirs = await sendTo(ada, archive);
  const [folderOfAda = 'missing'] = globSync('contents/*', { cwd: service.data });
  const pieces = Buffer.concat(cutArchive(archive).lists.map((list) => list.names));
  const own = await sendTo(bob, await archiveOf(t, { 'a.sh': 'echo of bob\n', 'b.txt': 'y'.repeat(300_000) }));
  const access = recordFileAccess(t);
  const touched = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    const from = access.length;
    await work();
    const paths = access.slice(from).map((each) => each.replace(`${service.data}/`, ''));
    // The rest belongs to every submission. The IDs of jobs are random.
    return paths
      .map((each) => each.replace(/waiting\/[0-9a-f]{20}/, 'waiting/JOB'))
      .filter((each) => /^\w+ (?:contents|waiting)/.test(each));
  };
  const attacks: readonly ((name: Buffer, piece: Buffer) => Promise<unknown>)[] = [
    (_list, piece) => post(bob, 'lacking', Buffer.concat([own, piece])),
    (list) => post(bob, 'lacking-lists', Buffer.concat([own, list])),
    (list, piece) => post(bob, 'lacking-lists', Buffer.concat([piece, list])),
    (list) => submitNames(bob, list),
    (list) => submitNames(bob, Buffer.concat([own, list])),
  ];
  let count = 0;
  for (const attack of attacks) {
    const guessed = await touched(() => attack(theirs, pieces));
    const invented = await touched(() => attack(randomBytes(theirs.length), randomBytes(pieces.length)));
    assert.deepEqual(guessed, invented);
    assert.deepEqual(
      guessed.filter((each) => each.includes(folderOfAda)),
      [],
    );
    count += guessed.length;
  }
  assert.ok(count > 0, 'files of his own are opened');
  // At the end, because the job that it submits opens files while it starts.
  assert.ok((await touched(() => submitNames(ada, theirs))).some((each) => each.includes(folderOfAda)));
});

test('poisoning: pieces that were replaced on the disk after the job was accepted never come into its workspace', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(1) });
  const blocker = await service.submit({ 'a.sh': GATE }, { script: 'a.sh' });
  await service.untilRunning(blocker);
  const lines = (word: string): string => `${word}\n`.repeat(500_000 / (word.length + 1));
  const archive = await archiveOf(t, { 'a.sh': 'head -n 1 *.txt\n', 'a.txt': lines('ours'), 'b.txt': randomText() });
  const names = await sendTo(service, archive);
  const response = await submitNames(service, names);
  const { job_id: id } = (await response.json()) as { job_id: string };
  assert.equal(response.status, 201);
  // The packs and the archive stay valid but for the names of the pieces.
  const packs = globSync('contents/*/*.pack', { cwd: service.data }).map((path) => join(service.data, path));
  for (const path of packs) {
    const bytes = readFileSync(path);
    const { entries = [] } = (await readPack(path)) ?? {};
    const pieces = entries.map(({ name, offset, bytes: length, size }) => {
      const text = zstdDecompressSync(bytes.subarray(offset, offset + length)).toString('latin1');
      return { name, frame: zstdCompressSync(Buffer.from(text.replaceAll('ours\n', 'evil\n'), 'latin1')), size };
    });
    writeFileSync(path, Buffer.concat(encodePack(pieces).parts));
  }
  assert.ok(packs.length > 0);
  await openGate(service.data, blocker);
  const job = await service.untilEnd(id);
  assert.equal(job.started_at, null);
  assert.match(job.reason ?? '', /contents of the job were damaged .* Submit again/);
  assert.deepEqual(globSync(`jobs/${id}/**/*.txt`, { cwd: service.data }), []);
  assert.equal((await submitNames(service, names)).status, 424, 'they count as lacking');
  await sendTo(service, archive);
  assert.match(await outputOf(service, await submitNames(service, names)), /ours/);
});

test('poisoning: of requests that send one piece at the same time, only those that have it are accepted', async (t) => {
  const service = await startService(t, SHARED);
  const { client: ada } = await addAccount(service, 'ada');
  const { client: bob } = await addAccount(service, 'bob');
  const archive = await archiveOf(t, { 'a.sh': 'echo harmless\n' });
  const [list] = cutArchive(archive).lists;
  assert.ok(list);
  const piece = gunzipSync(readFileSync(archive));
  const right = (level: number): Buffer =>
    Buffer.concat([
      ...batchEntry(list.name, zstdCompressSync(list.names)),
      ...batchEntry(list.names, zstdCompressSync(piece, { params: { 100: level } })),
    ]);
  const harmful = Buffer.from(piece.toString('latin1').replace('harmless', 'harmful!'), 'latin1');
  const wrong = Buffer.concat(batchEntry(list.names, zstdCompressSync(harmful)));
  const both = Buffer.concat([right(1), wrong]);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, level) =>
      Promise.all([
        post(ada, 'pieces', right(level + 1)),
        post(ada, 'pieces', wrong),
        post(ada, 'pieces', both),
        post(bob, 'pieces', wrong),
      ]),
    ),
  );
  for (const statuses of answers) {
    assert.deepEqual(
      statuses.map(([status]) => status),
      [200, 400, 400, 400],
    );
  }
  assert.deepEqual(await post(bob, 'lacking', list.names), [200, '01']);
  assert.equal(await outputOf(ada, await submitNames(ada, list.name)), 'harmless\n');
});

test('zip bombs: a frame is one piece and nothing else, and not larger than the largest piece', async (t) => {
  const service = await startService(t);
  const piece = Buffer.from('hello');
  const frame = zstdCompressSync(piece);
  // RFC 8878, 3.1.2: a frame that decoders skip.
  const skippable = (bytes: number): Buffer => {
    const header = Buffer.alloc(8);
    header.writeUInt32LE(0x184d2a50, 0);
    header.writeUInt32LE(bytes, 4);
    return Buffer.concat([header, Buffer.alloc(bytes)]);
  };
  // The same frame with empty blocks (3.1.1.2) before its own.
  const header = frame.subarray(0, 6);
  const padded = Buffer.concat([header, Buffer.alloc(3 * 200_000), frame.subarray(6)]);
  const bomb = Buffer.alloc(256 * 1024 + 1);
  const attacks: Readonly<Record<string, readonly [name: Buffer, frame: Buffer]>> = {
    'a second frame': [nameOfPiece(piece), Buffer.concat([frame, zstdCompressSync(bomb)])],
    'bytes after the frame': [nameOfPiece(piece), Buffer.concat([frame, randomBytes(100_000)])],
    'a frame to skip after it': [nameOfPiece(piece), Buffer.concat([frame, skippable(10_000_000)])],
    'a frame to skip before it': [nameOfPiece(piece), Buffer.concat([skippable(100), frame])],
    'many empty blocks': [nameOfPiece(piece), padded],
    'a byte too many': [nameOfPiece(bomb), zstdCompressSync(bomb)],
  };
  for (const [attack, [name, harmful]] of Object.entries(attacks)) {
    assert.equal((await post(service, 'pieces', Buffer.concat(batchEntry(name, harmful))))[0], 400, attack);
  }
  assert.equal(packBytes(service), 0);
  const largest = bomb.subarray(1);
  assert.equal((await post(service, 'pieces', batchOf([piece, largest, randomBytes(largest.length)])))[0], 200);
});

test('filling the disk: an account that sends as much as it can at once stays in its space, and others can submit', async (t) => {
  const service = await startService(t, SHARED);
  const most = 2_000_000;
  const { client: ada } = await addAccount(service, 'ada', { limits: { upload_bytes: most } });
  const { client: bob } = await addAccount(service, 'bob');
  const archive = await archiveOf(t, { 'a.sh': 'echo bob\n' });
  const flood = Array.from({ length: 40 }, () => post(ada, 'pieces', batchOf([randomBytes(200_000)])));
  // Each takes at least 4 KB of the space, however small it is.
  const tiny = Array.from({ length: 4_000 }, (_, index) => Buffer.from(String(index)));
  flood.push(post(ada, 'pieces', batchOf(tiny)));
  const names = await sendTo(bob, archive);
  const ofBob = await submitNames(bob, names);
  const statuses = (await Promise.all(flood)).map(([status]) => status);
  assert.deepEqual(new Set(statuses), new Set([200, 400]));
  assert.equal(statuses.at(-1), 400);
  const accepted = statuses.filter((status) => status === 200).length;
  assert.ok(accepted > 0 && accepted <= most / 200_000, String(accepted));
  assert.ok(packBytes(service) < most + 100_000, `${packBytes(service)} bytes`);
  assert.equal(await outputOf(bob, ofBob), 'bob\n');
  const direct = await ada.send({ 'a.sh': 'echo ada\n' }, { script: 'a.sh' });
  assert.equal(await outputOf(ada, direct), 'ada\n', 'an archive needs no room among the contents');
});

/** Text that does not compress to less than a piece. */
function randomText(): string {
  return randomBytes(300_000).toString('base64');
}
