import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { cannotListOpenFiles, openFilesIn } from '../openFiles.ts';
import { rejection } from '../rejection.ts';
import { answerJson, makeFolder, readAll, serve } from './server.ts';

const job = { script: 's', maxRuntime: 1 };

async function makeArchive(folder: string, bytes: number): Promise<string> {
  const archive = join(folder, 'workspace.tar.gz');
  await writeFile(archive, Buffer.alloc(bytes, 'a'));
  return archive;
}

test('an upload reports the bytes that were sent, up to the size of the file', async (t) => {
  const archive = await makeArchive(await makeFolder(t), 8_000_000);
  const { client } = await serve(t, (request, response) => {
    request.resume().on('end', () => answerJson(response, { job_id: 'j' }));
  });
  const calls: [number, number | undefined][] = [];
  await client.submitJob(archive, job, { onProgress: (bytes, total) => calls.push([bytes, total]) });
  assert.deepEqual(calls.at(-1), [8_000_000, 8_000_000]);
  assert.ok(calls.length > 5);
  assert.ok(calls.every(([bytes], index) => bytes > (calls[index - 1]?.[0] ?? 0)));
});

for (const [how, customFetch] of [
  ['the own fetch', undefined],
  ["a caller's fetch, which may hold on to what it has read", fetch],
] as const) {
  test(`every byte arrives as it is in the file, however slowly it is taken, by ${how}`, async (t) => {
    const archive = join(await makeFolder(t), 'workspace.tar.gz');
    const content = randomBytes(24_000_000);
    await writeFile(archive, content);
    const { client } = await serve(
      t,
      (request, response) => {
        const pieces: Buffer[] = [];
        let received = 0;
        request.on('data', (bytes: Buffer) => {
          pieces.push(bytes);
          const before = received;
          received += bytes.length;
          if (Math.floor(before / 3_000_000) === Math.floor(received / 3_000_000)) return;
          request.pause();
          setTimeout(() => request.resume(), 40);
        });
        request.on('end', () => {
          const body = Buffer.concat(pieces);
          const start = body.indexOf('\r\n\r\n', body.indexOf('name="tarball"')) + 4;
          const isSame = body.subarray(start, start + content.length).equals(content);
          answerJson(response, { job_id: String(isSame) });
        });
      },
      customFetch === undefined ? {} : { fetch: customFetch },
    );
    assert.equal((await client.submitJob(archive, job)).job_id, 'true');
  });
}

test("a caller's fetch may keep every piece that it has read until it sends them", async (t) => {
  const archive = join(await makeFolder(t), 'workspace.tar.gz');
  const content = randomBytes(12_000_000);
  await writeFile(archive, content);
  const collecting: typeof fetch = async (_url, { body } = {}) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);
    return Response.json({ job_id: String(Buffer.concat(pieces).includes(content)) });
  };
  const { client } = await serve(t, (_request, response) => response.end(), { fetch: collecting });
  assert.equal((await client.submitJob(archive, job)).job_id, 'true');
});

test('an empty archive can be sent, a missing one or a folder is an error', async (t) => {
  const folder = await makeFolder(t);
  const { client } = await serve(t, (request, response) => {
    void readAll(request).then((body) => answerJson(response, { job_id: String(body.includes('name="tarball"')) }));
  });
  assert.equal((await client.submitJob(await makeArchive(folder, 0), job)).job_id, 'true');
  await assert.rejects(client.submitJob(join(folder, 'none'), job), { code: 'ENOENT' });
  await assert.rejects(client.submitJob(folder, job), { code: 'bad-input' });
});

for (const [how, change] of [
  ['shrinks', (archive: string) => truncate(archive, 1_000_000)],
  ['grows', (archive: string) => appendFile(archive, 'more')],
] as const) {
  test(`a file that ${how} while it is sent is a clear error, and no whole form arrives`, async (t) => {
    const archive = await makeArchive(await makeFolder(t), 30_000_000);
    let isComplete = false;
    const { client } = await serve(t, (request) => {
      request.once('data', () => {
        request.pause();
        void change(archive).then(() => request.resume());
      });
      request.on('end', () => (isComplete = request.complete)).on('error', () => {});
    });
    const error = await rejection(client.submitJob(archive, job));
    assert.equal((error as Error & { code: string }).code, 'conflict');
    assert.match(error.message, /workspace\.tar\.gz changed during the upload/);
    assert.equal(isComplete, false);
  });
}

test('a refusal that arrives while the file is being sent is reported, and stops the upload', async (t) => {
  const archive = await makeArchive(await makeFolder(t), 30_000_000);
  let received = 0;
  let readOn = () => {};
  const closed = Promise.withResolvers<void>();
  const { client } = await serve(t, (request, response) => {
    request.on('data', (chunk: Buffer) => (received += chunk.length)).on('error', () => {});
    request.socket.once('close', closed.resolve);
    request.once('data', () => {
      request.pause(); // a server that has answered and does not read on would not see the connection close
      readOn = () => request.resume();
      answerJson(response, { detail: 'too large' }, 413);
    });
  });
  assert.equal((await rejection(client.submitJob(archive, job))).message, 'HTTP 413: too large');
  readOn();
  await closed.promise;
  assert.ok(received < 30_000_000);
});

test('an abort ends an upload', async (t) => {
  const archive = await makeArchive(await makeFolder(t), 30_000_000);
  const closed = Promise.withResolvers<void>();
  const { client } = await serve(t, (request) => {
    request
      .resume()
      .on('error', () => {})
      .once('close', closed.resolve);
  });
  const controller = new AbortController();
  const onProgress = (bytes: number) => bytes > 10_000_000 && controller.abort(new Error('enough'));
  const error = await rejection(client.submitJob(archive, job, { signal: controller.signal, onProgress }));
  assert.equal(error.message, 'enough');
  await closed.promise;
});

test('artifacts are saved as they come, with progress', async (t) => {
  const folder = await makeFolder(t);
  const content = Buffer.from(Array.from({ length: 200_001 }, (_, index) => index % 253));
  const { client } = await serve(t, (_request, response) => {
    // A compressed encoding would be a second layer around the archive; what was sent is what is kept.
    response.writeHead(200, { 'content-type': 'application/gzip', 'content-length': content.length }).end(content);
  });
  const calls: [number, number | undefined][] = [];
  const dest = join(folder, 'out.tar.gz');
  await writeFile(dest, 'old');
  const onProgress = (bytes: number, total?: number) => calls.push([bytes, total]);
  assert.equal(await client.downloadArtifacts('j', dest, { onProgress }), dest);
  assert.deepEqual(await readFile(dest), content);
  assert.deepEqual(await readdir(folder), ['out.tar.gz']);
  assert.deepEqual(
    calls,
    [65_536, 131_072, 196_608, 200_001].map((bytes) => [bytes, 200_001]),
  );
});

test('a download of unknown length has no total, and may be empty', async (t) => {
  const folder = await makeFolder(t);
  const { client } = await serve(t, (request, response) => {
    response.write('');
    response.end(request.url?.includes('/full/') ? 'abc' : undefined);
  });
  const calls: unknown[] = [];
  await client.downloadArtifacts('full', join(folder, 'a'), { onProgress: (...call) => calls.push(call) });
  await client.downloadArtifacts('empty', join(folder, 'b'));
  assert.deepEqual(calls, [[3, undefined]]);
  assert.equal(await readFile(join(folder, 'b'), 'utf8'), '');
});

test('a download that fails leaves what was there, and nothing beside it', async (t) => {
  const folder = await makeFolder(t);
  const dest = join(folder, 'out.tar.gz');
  await writeFile(dest, 'old');
  const { client } = await serve(t, (request, response) => {
    if (request.url?.includes('/gone/')) {
      answerJson(response, { detail: 'no artifacts' }, 404);
      return;
    }
    response.writeHead(200, request.url?.includes('/chunked/') ? {} : { 'content-length': 1_000_000 });
    response.write(Buffer.alloc(300_000));
    if (!request.url?.includes('/slow/')) setTimeout(() => response.socket?.end(), 20);
  });
  const controller = new AbortController();
  const abort = () => controller.abort(new Error('enough'));
  const failures: [() => Promise<unknown>, RegExp][] = [
    [() => client.downloadArtifacts('gone', dest), /no artifacts/],
    [() => client.downloadArtifacts('cut', dest), /aborted|premature|ended early/i],
    [() => client.downloadArtifacts('chunked', dest), /aborted|premature/i],
    [() => client.downloadArtifacts('slow', dest, { timeout: 0.1 }), /timed out/],
    [() => client.downloadArtifacts('slow', dest, { signal: controller.signal, onProgress: abort }), /enough/],
  ];
  for (const [download, message] of failures) assert.match((await rejection(download())).message, message);
  assert.deepEqual(await readdir(folder), ['out.tar.gz']);
  assert.equal(await readFile(dest, 'utf8'), 'old');
});

test('a destination may have the longest name that the disk allows', async (t) => {
  const folder = await makeFolder(t);
  const { client } = await serve(t, (_request, response) => response.end('abc'));
  for (const name of ['n'.repeat(255), 'é'.repeat(127)]) {
    const dest = join(folder, name);
    assert.equal(await client.downloadArtifacts('j', dest), dest);
  }
  assert.equal((await readdir(folder)).length, 2);
});

test('a destination that cannot be written is the error of the system, and leaves nothing', async (t) => {
  const folder = await makeFolder(t);
  const { client } = await serve(t, (_request, response) => response.end('abc'));
  await mkdir(join(folder, 'taken', 'full'), { recursive: true });
  assert.equal(
    ((await rejection(client.downloadArtifacts('j', join(folder, 'no', 'a')))) as NodeJS.ErrnoException).code,
    'ENOENT',
  );
  assert.match(
    (await rejection(client.downloadArtifacts('j', join(folder, 'taken')))).message,
    /EISDIR|ENOTEMPTY|EPERM/,
  );
  assert.deepEqual(await readdir(folder), ['taken']);
});

test('a download is refused when it is, or becomes, larger than allowed, announced, or free on the disk', async (t) => {
  const folder = await makeFolder(t);
  const dest = join(folder, 'out.tar.gz');
  const sent = { bytes: 0 };
  const { client } = await serve(t, (request, response) => {
    if (request.url?.includes('/endless/')) {
      const more = (): void => {
        while (sent.bytes < 100_000_000 && !response.destroyed) {
          sent.bytes += 65_536;
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    } else {
      response.writeHead(200, { 'content-length': request.url?.includes('/huge/') ? 10 ** 15 : 2_000_000 });
      response.write('x');
    }
  });
  const refusals: [() => Promise<unknown>, RegExp][] = [
    [() => client.downloadArtifacts('endless', dest, { maxBytes: 1_000_000 }), /larger than the limit of 1\.0 MB/],
    [() => client.downloadArtifacts('announced', dest, { maxBytes: 1_000_000 }), /larger than the limit of 1\.0 MB/],
    [() => client.downloadArtifacts('huge', dest), /The download needs .*, but this disk has only .* free/],
  ];
  for (const [download, message] of refusals) assert.match((await rejection(download())).message, message);
  assert.ok(sent.bytes < 50_000_000, `${sent.bytes} bytes were taken`);
  assert.deepEqual(await readdir(folder), []);
});

test('a download stops once it exceeds the announced size, with any fetch implementation', async (t) => {
  const folder = await makeFolder(t);
  const lying: typeof fetch = async () =>
    new Response(new Blob([Buffer.alloc(200_000)]).stream(), { headers: { 'content-length': '100000' } });
  const { client } = await serve(t, (_request, response) => response.end(), { fetch: lying });
  const calls: number[] = [];
  const onProgress = (bytes: number): void => void calls.push(bytes);
  const error = await rejection(client.downloadArtifacts('j', join(folder, 'a'), { onProgress }));
  assert.match(error.message, /of 100000 bytes/);
  assert.ok(calls.every((bytes) => bytes <= 100_000));
  assert.deepEqual(await readdir(folder), []);
});

test('the name that a service gives to a download is never used', async (t) => {
  const folder = await makeFolder(t);
  await mkdir(join(folder, 'into'));
  const names = ['../escaped', '/tmp/farwharf-escaped', '..%2fescaped', "x\"; filename*=UTF-8''..%2Fescaped"];
  for (const name of names) {
    const { client } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-disposition': `attachment; filename="${name}"` }).end('abc');
    });
    const dest = join(folder, 'into', 'out.tar.gz');
    assert.equal(await client.downloadArtifacts('j', dest), dest);
  }
  assert.deepEqual(await readdir(folder, { recursive: true }), ['into', join('into', 'out.tar.gz')]);
});

/** Responds with so many bytes, of which another number is announced. */
const respondWith =
  (bytes: number, announced = bytes): typeof fetch =>
  async () =>
    new Response(new Blob([Buffer.alloc(bytes, 'x')]).stream(), { headers: { 'content-length': String(announced) } });

test('a download may be as large as its limit, and says what it was cut or exceeded by', async (t) => {
  const folder = await makeFolder(t);
  const dest = join(folder, 'results');
  const download = async (customFetch: typeof fetch, maxBytes?: number): Promise<string> => {
    const { client } = await serve(t, (_request, response) => response.end(), { fetch: customFetch });
    try {
      return await client.downloadArtifacts('j', dest, maxBytes === undefined ? {} : { maxBytes });
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  };
  assert.equal(await download(respondWith(70_000), 70_000), dest);
  assert.equal((await readFile(dest)).length, 70_000);
  const tooLarge =
    'RemoteError: The results are larger than the limit of 70 KB, so nothing was saved. Have the job write less, or copy its results in another way.';
  assert.equal(await download(respondWith(70_000), 69_999), tooLarge.replace('70 KB', '70.0 KB'));
  const endless: typeof fetch = async () => new Response(new Blob([Buffer.alloc(70_000)]).stream());
  assert.equal(await download(endless, 69_999), tooLarge.replace('70 KB', '70.0 KB'));
  assert.equal(await download(endless, 70_000), dest);
  assert.equal(
    await download(respondWith(10, 11)),
    'RemoteError: The download ended early, after 10 of 11 bytes. Try again.',
  );
  assert.equal(await download(respondWith(11, 10)), 'RemoteError: The service sent 11 of 10 bytes. Try again.');
  assert.equal(await download(respondWith(0, 0)), dest);
  assert.deepEqual([await readdir(folder), (await readFile(dest)).length], [['results'], 0]);
});

test('the first bytes of a download are shown once, before anything is written, and can end it', async (t) => {
  const folder = await makeFolder(t);
  const { client } = await serve(t, (_request, response) => response.end(Buffer.alloc(150_000, 'y')));
  const heads: number[] = [];
  await client.downloadArtifacts('j', join(folder, 'a'), { onStart: (head) => heads.push(head.length) });
  assert.deepEqual(heads, [65_536]);
  const onStart = (): never => {
    throw new Error('not an archive');
  };
  assert.equal(
    (await rejection(client.downloadArtifacts('j', join(folder, 'b'), { onStart }))).message,
    'not an archive',
  );
  assert.deepEqual(await readdir(folder), ['a']);
});

test('the length of a body that was decoded on the way is not the announced one', async (t) => {
  const folder = await makeFolder(t);
  const decoded: typeof fetch = async () =>
    new Response(new Blob([Buffer.alloc(20)]).stream(), {
      headers: { 'content-length': '5', 'content-encoding': 'gzip' },
    });
  const { client } = await serve(t, (_request, response) => response.end(), { fetch: decoded });
  const totals: unknown[] = [];
  await client.downloadArtifacts('j', join(folder, 'a'), { onProgress: (...call) => totals.push(call) });
  assert.deepEqual(totals, [[20, undefined]]);
});

test('an upload of several pieces reports each once it was passed on, from the offset on', async (t) => {
  const archive = await makeArchive(await makeFolder(t), 5 * 2 ** 20 + 7);
  for (const [how, customFetch] of [
    ['own', undefined],
    ['custom', fetch],
  ] as const) {
    const { client } = await serve(
      t,
      (request, response) => {
        let bytes = 0;
        request.on('data', (chunk: Buffer) => (bytes += chunk.length));
        request.on('end', () =>
          answerJson(response, { job_id: String(bytes === Number(request.headers['content-length'])) }),
        );
      },
      customFetch === undefined ? {} : { fetch: customFetch },
    );
    const seen: number[] = [];
    const { job_id: isWhole } = await client.submitJob(archive, job, {
      offset: 3,
      onProgress: (bytes) => seen.push(bytes),
    });
    assert.equal(isWhole, 'true', how);
    assert.deepEqual(seen, [...[1, 2, 3, 4, 5].map((count) => count * 2 ** 20 + 3), 5 * 2 ** 20 + 7], how);
  }
});

test('the file of an upload is closed, however it ends', { skip: cannotListOpenFiles }, async (t) => {
  const folder = await makeFolder(t);
  const archive = await makeArchive(folder, 3_000_000);
  const { client } = await serve(t, (request, response) => {
    if (request.headers['upload-offset'] === '1') request.socket.destroy();
    else request.resume().on('end', () => answerJson(response, { job_id: 'j' }));
  });
  await client.submitJob(archive, job);
  await rejection(client.submitJob(archive, job, { offset: 1 }));
  await rejection(client.submitJob(archive, job, { offset: 3_000_001 }));
  await rejection(client.submitJob(folder, job));
  while (openFilesIn(folder).length > 0) await new Promise((resolve) => setImmediate(resolve));
});
