import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { directLedger } from '../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../src/jobs/ledger/ledger.ts';
import { EventSpool } from '../../src/jobs/log/spool.ts';
import { resubmitJob } from '../../src/jobs/send/resubmit.ts';
import { RemoteClient } from '../../src/remote/client.ts';
import { batchEntry, NAME_BYTES, nameOfPiece } from '../../src/remote/protocol/contents.ts';
import { jsonLines, Scratch, startFake } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { cutArchive, sendTo, submitNames } from './support/contents.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const RUN = { script: 'a.sh', max_runtime: 60 };

/** A tar.gz of files, folders and links made by the system's tar. */
async function archiveOf(t: TestContext, make: (folder: string) => void): Promise<string> {
  const folder = await temporaryFolder(t);
  const tree = join(folder, 'tree');
  mkdirSync(tree);
  make(tree);
  execFileSync('tar', ['-czf', join(folder, 'a.tar.gz'), '--format=pax', '-C', tree, '.']);
  return join(folder, 'a.tar.gz');
}

async function jobOf(response: Response): Promise<string> {
  const body = (await response.json()) as { job_id: string; detail?: string };
  assert.equal(response.status, 201, body.detail);
  return body.job_id;
}

function post(service: ServiceClient, path: string, body: Buffer): Promise<Response> {
  return service.request(`/v1/contents/${path}`, { method: 'POST', body: Buffer.from(body) });
}

async function detailOf(response: Response): Promise<string> {
  return ((await response.json()) as { detail: string }).detail;
}

/** Each path of a folder with its type, mode, size and hash. The service gives files the time at which it writes them. */
function treeOf(folder: string): readonly string[] {
  return globSync('**/*', { cwd: folder })
    .toSorted()
    .map((path) => {
      const stats = statSync(join(folder, path));
      const hash = stats.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(folder, path)))
            .digest('hex')
        : 'folder';
      return `${path} ${stats.mode.toString(8)} ${stats.size} ${hash}`;
    });
}

test('a workspace from contents is the one that the archive makes: files, modes, links and empty folders', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(3) });
  const archive = await archiveOf(t, (tree) => {
    writeFileSync(join(tree, 'a.sh'), GATE);
    mkdirSync(join(tree, 'empty/inner'), { recursive: true });
    writeFileSync(join(tree, 'large.bin'), randomBytes(3_000_000));
    writeFileSync(join(tree, 'zeros'), Buffer.alloc(1_500_000));
    writeFileSync(join(tree, 'none'), '');
    for (let index = 0; index < 300; index += 1)
      writeFileSync(join(tree, `f${index}.txt`), `text ${index}\n`.repeat(50));
    execFileSync('sh', ['-c', 'ln -s a.sh link; ln f1.txt hard; chmod 755 f2.txt; touch -d 2001-02-03 f3.txt'], {
      cwd: tree,
    });
  });
  const whole = await jobOf(await service.upload(readFileSync(archive), JSON.stringify(RUN)));
  const names = await sendTo(service, archive);
  const byContent = await jobOf(await submitNames(service, names));
  // What was checked once is not read again before the job starts.
  const again = await jobOf(await submitNames(service, names));
  const all = [whole, byContent, again];
  // Contents of this size are written when the job starts.
  for (const id of all) await service.untilRunning(id);
  const [expected, ...actual] = all.map((id) => treeOf(join(service.data, 'jobs', id, 'workspace')));
  assert.ok((expected ?? []).length > 300);
  for (const tree of actual) assert.deepEqual(tree, expected);
  await openGate(service.data);
  for (const id of all) assert.equal((await service.untilEnd(id)).state, 'succeeded');
  assert.deepEqual(globSync('waiting/*', { cwd: service.data }), []);
  assert.deepEqual(
    (await service.events(byContent)).map(({ event }) => event).includes('artifact'),
    false,
    'nothing changed',
  );
});

test('a job that writes into its files changes nothing for the next one', async (t) => {
  const service = await startService(t);
  const archive = await archiveOf(t, (tree) => {
    writeFileSync(join(tree, 'a.sh'), 'cat data; echo changed > data; chmod 777 data; rm -rf other\n');
    writeFileSync(join(tree, 'data'), 'original\n');
    writeFileSync(join(tree, 'other'), randomBytes(100_000));
  });
  const names = await sendTo(service, archive);
  for (let round = 0; round < 2; round += 1) {
    const id = await jobOf(await submitNames(service, names));
    assert.equal((await service.untilEnd(id)).state, 'succeeded');
    assert.equal(await service.output(id), 'original\n');
  }
});

test('guessing: an account learns nothing of the contents of another, and cannot use them by their names', async (t) => {
  const service = await startService(t, { config: testConfig({ isolation: 'none' }) });
  const { client: ada } = await addAccount(service, 'ada');
  const { client: bob } = await addAccount(service, 'bob');
  const archive = await archiveOf(t, (tree) =>
    writeFileSync(join(tree, 'a.sh'), `echo ${'secret of ada '.repeat(50)}\n`),
  );
  const names = await sendTo(ada, archive);
  const contents = cutArchive(archive);
  const pieces = Buffer.concat(contents.lists.map((list) => list.names));
  const bits = async (client: ServiceClient, path: string, asked: Buffer) =>
    Buffer.from(await (await post(client, path, asked)).arrayBuffer()).toString('hex');
  assert.equal(await bits(ada, 'lacking', pieces), '00');
  assert.equal(await bits(bob, 'lacking', pieces), await bits(bob, 'lacking', randomBytes(pieces.length)));
  assert.equal(await bits(bob, 'lacking-lists', names), '01');
  const refused = await submitNames(bob, names);
  assert.equal(refused.status, 424);
  assert.equal(await detailOf(refused), await detailOf(await submitNames(bob, randomBytes(names.length))));
  await sendTo(bob, archive);
  const own = await jobOf(await submitNames(bob, names));
  await bob.untilEnd(own);
  assert.equal((await ada.request(`/v1/jobs/${own}`)).status, 404);
});

test('poisoning: contents that are not what their name says are refused, and what is damaged on the disk is not used', async (t) => {
  const service = await startService(t);
  const archive = await archiveOf(t, (tree) => {
    writeFileSync(join(tree, 'a.sh'), 'echo harmless\n');
    writeFileSync(join(tree, 'data'), randomBytes(200_000));
  });
  const { lists } = cutArchive(archive);
  const wanted = lists[0]?.names.subarray(0, 32) ?? Buffer.alloc(32);
  const poison = Buffer.concat(batchEntry(wanted, zstdCompressSync('echo harmful')));
  const bomb = Buffer.alloc(50_000_000);
  for (const body of [
    poison,
    poison.subarray(0, 50),
    poison.subarray(0, 20),
    Buffer.concat(batchEntry(nameOfPiece(bomb), zstdCompressSync(bomb))),
    Buffer.concat(batchEntry(wanted, randomBytes(100))),
  ]) {
    assert.equal((await post(service, 'pieces', body)).status, 400);
  }
  assert.equal((await post(service, 'pieces', Buffer.alloc(17 * 2 ** 20))).status, 413);
  const tiny = Buffer.concat(batchEntry(nameOfPiece(Buffer.from('tiny')), zstdCompressSync('tiny')));
  assert.equal((await post(service, 'pieces', Buffer.concat(Array.from({ length: 4_097 }, () => tiny)))).status, 413);
  assert.equal((await post(service, 'lacking', Buffer.alloc(33))).status, 400);
  assert.equal((await post(service, 'lacking', Buffer.alloc(32 * 16_385))).status, 413);
  const names = await sendTo(service, archive);
  const damages: readonly ((path: string) => void)[] = [
    (path) => truncateSync(path, 10),
    (path) => {
      const bytes = readFileSync(path);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    },
  ];
  for (const damage of damages) {
    const files = globSync('contents/*/*', { cwd: service.data });
    assert.ok(files.length > 0);
    for (const file of files) damage(join(service.data, file));
    assert.equal((await submitNames(service, names)).status, 424);
    await sendTo(service, archive);
  }
  const id = await jobOf(await submitNames(service, names));
  await service.untilEnd(id);
  assert.equal(await service.output(id), 'harmless\n');
});

test('filling the disk: one piece cannot be named often enough to unpack to gigabytes', async (t) => {
  const service = await startService(t);
  // A name is made once: while the hashes of gigabytes are computed, the service in this process closes the idle connection.
  const repeated = (bytes: Buffer, count: number): Buffer => Buffer.alloc(NAME_BYTES * count, nameOfPiece(bytes));
  const piece = Buffer.alloc(256 * 1024);
  const list = repeated(piece, 1_024);
  const batch = [piece, list].flatMap((bytes) => batchEntry(nameOfPiece(bytes), zstdCompressSync(bytes)));
  assert.equal((await post(service, 'pieces', Buffer.concat(batch))).status, 200);
  const lists = (count: number): Buffer => repeated(list, count);
  const refused = await submitNames(service, lists(1_024));
  assert.equal(refused.status, 400);
  assert.match(await detailOf(refused), /unpack to more than/);
  assert.equal((await submitNames(service, lists(65_537))).status, 400);
  assert.equal((await submitNames(service, Buffer.alloc(0))).status, 400);
  const tiny = repeated(Buffer.from('tiny'), 8_192);
  const tinyBatch = [Buffer.from('tiny'), tiny].flatMap((bytes) =>
    batchEntry(nameOfPiece(bytes), zstdCompressSync(bytes)),
  );
  assert.equal((await post(service, 'pieces', Buffer.concat(tinyBatch))).status, 200);
  const countless = await submitNames(service, repeated(tiny, 129));
  assert.equal(countless.status, 400);
  assert.match(await detailOf(countless), /more than 1,048,576 pieces/);
  assert.equal((await submitNames(service, nameOfPiece(piece))).status, 424, 'it names pieces that were not sent');
  assert.deepEqual(globSync('jobs/*', { cwd: service.data }), []);
});

test('paths that lead out, links and too many folders in contents are refused like those of an archive', async (t) => {
  const service = await startService(t);
  const folder = await temporaryFolder(t);
  const header = (name: string, type: string, link = '', size = 0): Buffer => {
    const block = Buffer.alloc(512);
    block.write(name, 0);
    block.write('0000644\0', 100);
    block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
    block.write('00000000000\0', 136);
    block.write('        ', 148);
    block.write(type, 156);
    block.write(link, 157);
    block.write('ustar\u000000', 257);
    block.write(
      `${block
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    return block;
  };
  const script = header('a.sh', '0');
  const trees: Record<string, Buffer[]> = {
    'no script': [header('b.sh', '0')],
    'cut off': [script, header('c', '0', '', 512)],
    dots: [script, header('../../escape', '0')],
    absolute: [script, header('/tmp/escape', '0')],
    folders: [script, ...Array.from({ length: 60_000 }, (_, index) => header(`d${index}/x`, '5'))],
    through: [script, header('link', '2', '/tmp'), header('link/escape', '0')],
  };
  // Only what is outside of files is read of the larger ones before they are accepted.
  const large = [header('large', '0', '', 512 * 1_000), randomBytes(512 * 1_000)];
  const all = Object.entries(trees).flatMap(([name, blocks]): [string, Buffer[]][] => [
    [name, blocks],
    [`large ${name}`, [...large, ...blocks]],
  ]);
  for (const [name, blocks] of all) {
    const archive = join(folder, `${name}.tar.gz`);
    const end = name.endsWith('cut off') ? [] : [Buffer.alloc(1024)];
    writeFileSync(archive, gzipSync(Buffer.concat([...blocks, ...end])));
    const whole = await service.upload(readFileSync(archive), JSON.stringify(RUN));
    const byContent = await submitNames(service, await sendTo(service, archive));
    assert.equal(byContent.status, whole.status, name);
    if (whole.status === 201) {
      const [one, other] = [await jobOf(whole), await jobOf(byContent)];
      await service.untilEnd(one);
      await service.untilEnd(other);
      assert.equal(await service.output(other, 'stderr'), await service.output(one, 'stderr'), name);
    } else {
      assert.equal(whole.status, 400, name);
      assert.equal(await detailOf(byContent), await detailOf(whole), name);
    }
  }
});

test('a repeated submission with one key is one job, and one that lacks contents leaves the key free', async (t) => {
  const service = await startService(t);
  const archive = await archiveOf(t, (tree) => writeFileSync(join(tree, 'a.sh'), 'true\n'));
  const names = Buffer.concat(cutArchive(archive).lists.map(({ name }) => name));
  const headers = { 'idempotency-key': 'one' };
  assert.equal((await submitNames(service, names, headers)).status, 424);
  await sendTo(service, archive);
  const first = await jobOf(await submitNames(service, names, headers));
  assert.equal(await jobOf(await submitNames(service, names, headers)), first);
  assert.equal((await service.json<{ jobs: unknown[] }>('/v1/jobs')).jobs.length, 1);
});

test('a service that is killed while it receives contents or a job loses nothing that it accepted, and starts again', async (t) => {
  const home = await temporaryFolder(t);
  const archive = await archiveOf(t, (tree) => {
    writeFileSync(join(tree, 'a.sh'), 'wc -c < data\n');
    writeFileSync(join(tree, 'data'), randomBytes(20_000_000));
  });
  const options = { config: jobsAtOnce(1) };
  let service = await ServiceProcess.start(home, options);
  t.after(() => service.end('SIGKILL'));
  const blocker = await service.client.submit({ 'a.sh': GATE }, RUN);
  await service.client.untilRunning(blocker);
  for (const delay of [20, 200]) {
    const sending = sendTo(service.client, archive).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, delay));
    await service.end('SIGKILL');
    await sending;
    service = await ServiceProcess.start(home, options);
  }
  const names = await sendTo(service.client, archive);
  const accepted = await jobOf(await submitNames(service.client, names));
  const lost = submitNames(service.client, names).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 30));
  await service.end('SIGKILL');
  await lost;
  service = await ServiceProcess.start(home, options);
  // An accepted job needs the contents no more.
  rmSync(join(service.client.data, 'contents'), { recursive: true });
  await openGate(service.client.data, blocker);
  // Wherever the service is while it writes the workspace.
  for (const delay of [20, 300]) {
    await new Promise((resolve) => setTimeout(resolve, delay));
    await service.end('SIGKILL');
    service = await ServiceProcess.start(home, options);
  }
  assert.equal((await service.client.untilEnd(accepted)).state, 'succeeded');
  assert.equal((await service.client.output(accepted)).trim(), '20000000');
  await service.end('SIGTERM');
});

test('the command sends only what changed, and says how much', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'a.sh': 'cat big/7.bin | wc -c; cat small/3.txt\n' });
  for (const name of ['big', 'small']) mkdirSync(join(folder, name));
  for (let index = 0; index < 20; index += 1) writeFileSync(join(folder, 'big', `${index}.bin`), randomBytes(400_000));
  for (let index = 0; index < 50; index += 1) writeFileSync(join(folder, 'small', `${index}.txt`), `text ${index}\n`);
  const submit = async () => {
    const done = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch', '--json'], { env });
    assert.equal(done.exit, 0, done.stderr);
    const lines = jsonLines(done.stdout);
    const text = lines.map(({ data }) => (data as { text?: string } | undefined)?.text ?? '').join('');
    return {
      sent: Number(lines[0]?.['sent_bytes']),
      total: Number(lines[0]?.['total_bytes']),
      text,
      stderr: done.stderr,
    };
  };
  const first = await submit();
  assert.ok(first.sent > 8_000_000 && first.sent < 8_300_000, String(first.sent));
  assert.ok(first.total > 8_000_000);
  assert.doesNotMatch(first.stderr, /the service had the rest/);
  const again = await submit();
  assert.ok(again.sent < 5_000, String(again.sent));
  writeFileSync(join(folder, 'small', '3.txt'), 'changed\n');
  const changed = await submit();
  assert.ok(changed.sent < 600_000, String(changed.sent));
  assert.match(changed.text, /400000\s+changed/);
  assert.match(changed.stderr, /uploaded .* of .*, because the service had the rest/);
  assert.equal(changed.total, first.total + 'changed\n'.length - 'text 3\n'.length);
});

test('the jobs of a sweep send the contents once, and an earlier job is submitted again without them', async (t) => {
  await using scratch = await Scratch.create();
  const { env, url, key } = await scratch.serve();
  const profile = { script: 'a.sh', arguments: ['${matrix:seed}'], matrix: { seed: [1, 2, 3] } };
  const folder = await scratch.folder('project', {
    'a.sh': 'wc -c < data.bin\n',
    'farwharf.json': JSON.stringify({ profiles: { search: profile } }),
  });
  writeFileSync(join(folder, 'data.bin'), randomBytes(300_000));
  const sweep = await scratch.run(['submit', folder, '--profile', 'search', '--watch', '--json'], { env });
  assert.equal(sweep.exit, 0, sweep.stderr);
  const ledger = new JobLedger(scratch.home);
  t.after(() => ledger.dispose());
  const ids = ledger.list({}).map(({ id }) => id);
  assert.equal(ids.length, 3);
  await using client = new RemoteClient(url, key);
  const deps = { service: client, ledger: directLedger(ledger), home: scratch.home };
  ids.push((await resubmitJob(deps, ids[0] ?? '', { usesContents: true })).id);
  const uploads = ids.map(
    (id) => /uploaded ([\d.]+ \w+)/.exec(readFileSync(new EventSpool(scratch.home, id).path, 'utf8'))?.[1],
  );
  assert.equal(uploads.filter((size) => size?.endsWith(' KB')).length, 1, uploads.join());
  assert.equal(uploads.filter((size) => /^\d+ B$/.test(size ?? '')).length, 3, uploads.join());
});

test('where the account has no room for contents, the archive is sent', async (t) => {
  await using scratch = await Scratch.create();
  const config = join(scratch.root, 'small.toml');
  writeFileSync(config, '[limits]\nupload_gb = 0.001\n');
  const { env, data } = await scratch.serve(['--config', config]);
  const folder = await scratch.folder('project', { 'a.sh': 'cat text | wc -c\n' });
  const text = (): string => randomBytes(350_000).toString('hex');
  let reported = 0;
  for (let round = 0; round < 4; round += 1) {
    writeFileSync(join(folder, 'text'), text());
    const done = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch'], { env });
    assert.equal(done.exit, 0, done.stderr);
    assert.equal(done.stdout.trim(), '700000');
    const reasons = done.stderr.match(
      /did not accept only what changed \(HTTP 400: .*\), so the whole archive is sent\./g,
    );
    // In the progress, and as the first lines of the log.
    if (reasons !== null) reported += 1;
    assert.ok(reasons === null || reasons.length <= 2, done.stderr);
  }
  assert.ok(reported > 0);
  const bytes = globSync('contents/*/*', { cwd: data }).reduce((sum, file) => sum + statSync(join(data, file)).size, 0);
  assert.ok(bytes <= 1_000_000, String(bytes));
  t.diagnostic(`${bytes} bytes are stored`);
});

test('an archive that refers to earlier ones is sent whole, and packed again where these are damaged', async () => {
  await using scratch = await Scratch.create();
  const config = join(scratch.root, 'small.toml');
  // Enough for three files, and for an archive of them.
  writeFileSync(config, '[limits]\nupload_gb = 0.0035\n');
  const { env, data } = await scratch.serve(['--config', config]);
  const folder = await scratch.folder('project', { 'a.sh': 'cat small.txt; cat *.bin | sha256sum\n' });
  const files = ['1.bin', '2.bin', '3.bin'].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, randomBytes(1_050_000));
  let count = 0;
  const submit = async (): Promise<string> => {
    const text = `round ${(count += 1)}\n`;
    writeFileSync(join(folder, 'small.txt'), text);
    // Files that were changed just before are packed again anyway.
    await sleep(150);
    const done = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch'], { env });
    assert.equal(done.exit, 0, done.stderr);
    const sha256 = createHash('sha256')
      .update(Buffer.concat(files.map((file) => readFileSync(file))))
      .digest('hex');
    assert.equal(done.stdout, `${text}${sha256}  -\n`);
    return done.stderr;
  };
  const archives = join(scratch.home, 'archives');
  const folders = (): string[] => globSync('*.parts', { cwd: archives });
  await submit();
  assert.match(await submit(), /because the service had the rest/);
  assert.equal(folders().length, 1);
  writeFileSync(files[0] ?? '', randomBytes(1_050_000));
  assert.doesNotMatch(await submit(), /because the service had the rest/);
  assert.equal(folders().length, 2);
  rmSync(join(data, 'contents'), { recursive: true });
  for (const part of globSync('{*.tar.gz,*.parts/*}', { cwd: archives })) {
    const bytes = readFileSync(join(archives, part));
    for (let at = 100_000; at < bytes.length; at += 100_000) bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(join(archives, part), bytes);
  }
  await submit();
});

test('a service without the feature gets the requests of before, and nothing else', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', {
    'a.sh': 'true\n',
    'data.bin': randomBytes(100_000).toString('hex'),
  });
  const requests: string[] = [];
  await using fake = await startFake((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString('latin1')));
    request.on('end', () => {
      const part = /name="tarball"; filename="workspace\.tar\.gz"/.exec(body)?.[0] ?? '';
      requests.push(`${request.method} ${request.url} ${part}`);
      response.setHeader('content-type', 'application/json');
      response.statusCode = request.method === 'POST' ? 201 : 200;
      const features = request.method === 'POST' ? {} : { features: ['something-else'] };
      response.end(JSON.stringify({ job_id: 'j1', credit_hold: 1, credits_remaining: 2, credits: 10, ...features }));
    });
  });
  const { stdout, exit, stderr } = await scratch.run(['submit', folder, '--script', 'a.sh', '--json'], {
    env: fake.env,
  });
  assert.equal(exit, 0, stderr);
  assert.deepEqual(requests, ['GET /v1/me ', 'POST /v1/jobs name="tarball"; filename="workspace.tar.gz"']);
  const [receipt] = jsonLines(stdout);
  assert.equal(receipt?.['sent_bytes'], receipt?.['archive_bytes']);
});
