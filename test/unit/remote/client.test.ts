import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { RemoteClient } from '../../../src/remote/client.ts';
import { RemoteError } from '../../../src/remote/http/remoteErrors.ts';
import { rejection } from '../rejection.ts';
import { answerJson, KEY, listen, makeFolder, readAll, serve } from './server.ts';

const TLS = join(import.meta.dirname, '../../fixtures/tls');

test('asks for the account with the key, and keeps fields that it does not know', async (t) => {
  let asked: IncomingMessage | undefined;
  const account = {
    plan: 'team',
    credits: 12.5,
    rate_card: [{ machine_class: 'gpu', credits_per_minute: 2, region: 'eu' }],
    motto: { a: [1] },
  };
  const { client } = await serve(t, (request, response) => {
    asked = request;
    answerJson(response, account);
  });
  assert.deepEqual(await client.me(), account);
  assert.equal(asked?.method, 'GET');
  assert.equal(asked.url, '/v1/me');
  assert.equal(asked.headers.authorization, `Bearer ${KEY}`);
  assert.equal(asked.headers['user-agent'], 'farwharf');
});

test('an account, a job and a cancellation are returned as the service sent them, whatever its fields are', async (t) => {
  const replies: readonly object[] = [
    { credits: '5', plan: { name: 'pro' }, rate_card: { gpu: 2 } },
    { balance: 3, rates: [{ name: 'gpu', credits_per_hour: 60 }], features: 'none' },
    { id: 7, status: 'running', created_at: 1_700_000_000, exit_code: '0', script: null },
  ];
  let reply: object = {};
  const { client } = await serve(t, (_request, response) => answerJson(response, reply));
  for (reply of replies) {
    assert.deepEqual(await client.me(), reply);
    assert.deepEqual(await client.getJob('j'), reply);
    assert.deepEqual(await client.cancel('j'), reply);
  }
});

test('slashes at the end of the address are stripped, a path in it is kept', async (t) => {
  const urls: (string | undefined)[] = [];
  const { host } = await serve(t, (request, response) => {
    urls.push(request.url);
    answerJson(response, {});
  });
  await using client = new RemoteClient(`${host}/base///`, KEY);
  assert.equal(client.host, `${host}/base`);
  await client.getJob('j1');
  assert.deepEqual(urls, ['/base/v1/jobs/j1']);
});

test("the caller's headers are sent, its User-Agent too, but not its Authorization", async (t) => {
  let headers: IncomingMessage['headers'] = {};
  const { client } = await serve(
    t,
    (request, response) => {
      headers = request.headers;
      answerJson(response, {});
    },
    { headers: { 'USER-AGENT': 'mine/1', 'X-Team': 'a', authorization: 'Basic x' } },
  );
  await client.me();
  assert.equal(headers['user-agent'], 'mine/1');
  assert.equal(headers['x-team'], 'a');
  assert.equal(headers.authorization, `Bearer ${KEY}`);
});

test('job IDs are encoded as one path segment', async (t) => {
  const asked: string[] = [];
  const { client } = await serve(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answerJson(response, { job_id: 'x', state: 'done?' });
  });
  assert.deepEqual(await client.getJob('a/../../me?x=1#y'), { job_id: 'x', state: 'done?' });
  await client.cancel('job_1-Z');
  assert.deepEqual(asked, ['GET /v1/jobs/a%2F..%2F..%2Fme%3Fx%3D1%23y', 'DELETE /v1/jobs/job_1-Z']);
  for (const id of ['', '.', '..', 'x'.repeat(257)]) {
    await assert.rejects(client.getJob(id), { code: 'bad-input' }, JSON.stringify(id));
    await assert.rejects(client.cancel(id), { code: 'bad-input' });
    await assert.rejects(client.downloadArtifacts(id, '/nowhere'), { code: 'bad-input' });
    assert.throws(() => client.streamEvents(id), { code: 'bad-input' });
  }
  assert.equal(asked.length, 2);
});

test('a cancellation without a body is an empty object', async (t) => {
  const { client } = await serve(t, (_request, response) => response.writeHead(204).end());
  assert.deepEqual(await client.cancel('j'), {});
});

test('a job is submitted as a form with the metadata and the archive', async (t) => {
  const archive = join(await makeFolder(t), 'any name.bin');
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
  await writeFile(archive, content);
  const forms: FormData[] = [];
  const { client } = await serve(t, (request, response) => {
    void (async () => {
      assert.equal(request.headers['transfer-encoding'], undefined);
      const body = await readAll(request);
      assert.equal(request.headers['content-length'], String(body.length));
      const headers = { 'content-type': request.headers['content-type'] ?? '' };
      forms.push(await new Response(new Uint8Array(body), { headers }).formData());
      answerJson(response, { job_id: 'j1', credit_hold: 2, credits_remaining: 8, queue: 'fast' });
    })();
  });
  const venv = { requirements: ['naïve==1\r\n'] };
  const job = { script: 'train.py', maxRuntime: 90.9, project: 'p', machineClass: 'gpu', venv };
  assert.deepEqual(await client.submitJob(archive, job), {
    job_id: 'j1',
    credit_hold: 2,
    credits_remaining: 8,
    queue: 'fast',
  });
  await client.submitJob(archive, { script: 's', maxRuntime: 5, project: '', machineClass: '', venv: {} });
  const tarball = forms[0]?.get('tarball');
  assert.ok(tarball instanceof File);
  assert.equal(tarball.name, 'workspace.tar.gz');
  assert.equal(tarball.type, 'application/gzip');
  assert.deepEqual(Buffer.from(await tarball.arrayBuffer()), content);
  assert.deepEqual(
    forms.map((form) => JSON.parse(form.get('meta') as string) as unknown),
    [
      { script: 'train.py', max_runtime: 90, project: 'p', venv, machine_class: 'gpu' },
      { script: 's', max_runtime: 5 },
    ],
  );
});

test('an answer without a job id is an error, since the job would be lost', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, 'x');
  const { client } = await serve(t, (request, response) => {
    request.resume().on('end', () => answerJson(response, { credit_hold: 1 }));
  });
  const error = await rejection(client.submitJob(archive, { script: 's', maxRuntime: 1 }));
  assert.equal(error.name, 'RemoteError');
  assert.match(error.message, /HTTP 200: .*job_id/);
});

test("a caller's own fetch sends everything", async (t) => {
  const folder = await makeFolder(t);
  await writeFile(join(folder, 'a.tar.gz'), Buffer.alloc(400_000, 'a'));
  const urls: string[] = [];
  const counted: typeof fetch = (input, init) => {
    urls.push(input as string);
    return fetch(input, init);
  };
  const { client, host } = await serve(
    t,
    (request, response) => {
      request.resume().on('end', () => {
        assert.equal(request.headers.authorization, `Bearer ${KEY}`);
        if (request.url?.endsWith('/events')) response.end('data: 1\n\n');
        else if (request.url?.endsWith('/artifacts')) response.end('tar');
        else answerJson(response, { job_id: 'j', length: request.headers['content-length'] });
      });
    },
    { fetch: counted },
  );
  const sent: number[] = [];
  const created = await client.submitJob(
    join(folder, 'a.tar.gz'),
    { script: 's', maxRuntime: 1 },
    { onProgress: (bytes) => sent.push(bytes) },
  );
  assert.ok(Number(created['length']) > 400_000);
  assert.equal(sent.at(-1), 400_000);
  assert.deepEqual(await Array.fromAsync(client.streamEvents('j')), [{ event: 'message', data: 1 }]);
  await client.downloadArtifacts('j', join(folder, 'out'));
  assert.deepEqual(urls, [`${host}/v1/jobs`, `${host}/v1/jobs/j/events`, `${host}/v1/jobs/j/artifacts`]);
});

test('closing ends idle connections, what is running, and what comes later', async (t) => {
  let connections = 0;
  const closed = Promise.withResolvers<void>();
  const { client } = await serve(t, (request, response) => {
    if (request.url === '/v1/jobs/slow') return;
    request.socket.once('close', () => closed.resolve());
    connections += 1;
    answerJson(response, {});
  });
  await client.me();
  const running = rejection(client.getJob('slow'));
  // The slow call has taken the idle connection; the next one makes another, which is then idle.
  await client.me();
  await client.close();
  await closed.promise;
  assert.equal(connections, 2);
  for (const error of [await running, await rejection(client.me())]) assert.match(error.message, /client is closed/);
  await client.close();
});

test('an idle connection that the service has dropped is replaced, except for a submit', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, 'x');
  const requests = new Map<object, number>();
  const { client } = await serve(t, (request, response) => {
    const count = (requests.get(request.socket) ?? 0) + 1;
    requests.set(request.socket, count);
    if (count > 1) request.socket.resetAndDestroy();
    else answerJson(response, { credits: requests.size });
  });
  assert.equal((await client.me()).credits, 1);
  assert.equal((await client.me()).credits, 2);
  const error = await rejection(client.submitJob(archive, { script: 's', maxRuntime: 1 }));
  assert.ok('code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE'), inspect(error));
});

test('the key is not shown by inspecting the client', () => {
  const client = new RemoteClient('https://jobs.example.org', KEY);
  assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(KEY));
  assert.ok(!JSON.stringify(client).includes(KEY));
});

test('addresses and keys that cannot work are refused without being repeated', () => {
  const others = ['https://x.org?', 'https://x.org/#', 'https://x.org/?#', 'https://x.org ', 'https://x.org/a\\'];
  for (const host of ['', 'jobs.example.org', 'ftp://x', 'https://me:hunter22@x.org', 'https://x.org?a=1', ...others]) {
    assert.throws(
      () => new RemoteClient(host, KEY),
      (error: Error) => /service address/.test(error.message) && !error.message.includes('hunter22'),
    );
  }
  for (const key of ['', 'a b', 'abc\n', 'schlüssel']) {
    assert.throws(
      () => new RemoteClient('https://x.org', key),
      (error: Error) => /API key/.test(error.message) && (key === '' || !error.message.includes(key)),
    );
  }
});

test('a submitted job is returned as the service sent it, and can be asked for by its ID', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, 'x');
  let reply: { job_id: unknown } = { job_id: '' };
  let asked: string | undefined;
  const { client } = await serve(t, (request, response) => {
    asked = request.url;
    request.resume().on('end', () => answerJson(response, reply));
  });
  for (const id of ['0198c0de-7e57-7abc-8def-0123456789ab', 'ns/job 42', 'é?#', '$(id)']) {
    const sent = { job_id: id, credit_hold: '3', credits_remaining: null };
    reply = sent;
    assert.deepEqual(await client.submitJob(archive, { script: 's', maxRuntime: 1 }), sent);
    await client.getJob(id);
    assert.equal(asked, `/v1/jobs/${encodeURIComponent(id)}`);
  }
  for (const id of ['', 7, null]) {
    reply = { job_id: id };
    const { message } = await rejection(client.submitJob(archive, { script: 's', maxRuntime: 1 }));
    assert.match(message, /HTTP 200: .*job_id/);
  }
});

test('optional fields of a submission that are null are omitted', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, 'x');
  let body = '';
  const { client } = await serve(t, (request, response) => {
    void (async () => {
      body = (await readAll(request)).toString('latin1');
      answerJson(response, { job_id: 'j' });
    })();
  });
  const none = null as never;
  await client.submitJob(archive, { script: 's', maxRuntime: 1, project: none, venv: none, machineClass: none });
  assert.match(body, /\r\n\{"script":"s","max_runtime":1\}\r\n/);
});

test('what a program in JavaScript can pass by mistake is an error that says what is wrong', async () => {
  const client = new RemoteClient('https://x.org', KEY);
  for (const [id, shown] of [
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    ['\ud800', String.raw`"\ud800"`],
  ] as const) {
    const { message } = await rejection(client.getJob(id as never));
    assert.equal(message, `${shown} is not a valid job ID.`);
  }
  const job = { script: undefined as never, maxRuntime: 1 };
  await assert.rejects(client.submitJob(import.meta.filename, job), {
    code: 'bad-input',
    message: 'The script of a job must be a string.',
  });
  for (const key of [undefined, null, 7, {}]) {
    assert.throws(() => Reflect.construct(RemoteClient, ['https://x.org', key]), {
      code: 'bad-input',
      message: 'The API key is empty or contains invalid characters. Enter it again.',
    });
  }
});

test('many clients that nobody closes share a connection without a warning', async (t) => {
  // As inside VS Code, where connections to other machines are those of the global agent.
  const editor = http as unknown as { __vscodeOriginal?: unknown };
  const agent = https.globalAgent as unknown as { options: { lookup?: unknown; rejectUnauthorized?: false } };
  agent.options.rejectUnauthorized = false;
  editor.__vscodeOriginal = {};
  agent.options.lookup = (_name: string, _options: unknown, found: (error: null, all: unknown) => void) =>
    found(null, [{ address: '127.0.0.1', family: 4 }]);
  t.after(() => {
    delete editor.__vscodeOriginal;
    delete agent.options.lookup;
    delete agent.options.rejectUnauthorized;
  });
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  const ports = new Set<number | undefined>();
  const [key, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(join(TLS, name))));
  const server = https.createServer({ key, cert }, (request, response) => {
    ports.add(request.socket.remotePort);
    answerJson(response, {});
  });
  const host = `https://jobs.example.org:${await listen(t, server)}`;
  const clients = Array.from({ length: 30 }, () => new RemoteClient(host, KEY));
  for (const client of clients) await client.me();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([ports.size, warnings], [1, []]);
  await Promise.all(clients.map((client) => client.close()));
});

test('a key never leaves this machine unencrypted', async (t) => {
  let wasAsked = false;
  const { host } = await serve(t, (_request, response) => {
    wasAsked = true;
    answerJson(response, {});
  });
  const { port } = new URL(host);
  const nearby = ['gpu.example.org', '10.0.0.7', '0.0.0.0', 'localhost.example.org', '127.0.0.1.nip.io', '[::2]'];
  for (const name of nearby) {
    for (const options of [{}, { fetch }, { agent: new http.Agent() }]) {
      assert.throws(() => new RemoteClient(`http://${name}:${port}/base/`, KEY, options), {
        name: 'AppError',
        code: 'bad-input',
        message:
          `http://${name}:${port} would send your key and files unencrypted, so nothing was sent. Use https://${name}:${port}. ` +
          'Without a certificate, connect the machine over SSH (farwharf connect), or forward a port of 127.0.0.1 to it.',
      });
    }
  }
  assert.equal(wasAsked, false);
  for (const name of ['127.0.0.1', 'LOCALHOST', '127.9.9.9', '[::1]']) {
    assert.equal(new RemoteClient(`http://${name}:${port}`, KEY).host, `http://${name}:${port}`);
  }
});

test('a refused address, key, job ID and key of a submission say what to do', async (t) => {
  const messageOf = async (work: () => unknown): Promise<string> => {
    try {
      await work();
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };
  assert.equal(
    await messageOf(() => new RemoteClient('x', KEY)),
    'The service address is not valid. Enter one like https://jobs.example.org, without a user name, password or query.',
  );
  for (const host of ['http://a@x.org', 'http://:pw@x.org', 'xhttp://x.org', 'https://x.org\\a', 'https://x .org']) {
    assert.match(await messageOf(() => new RemoteClient(host, KEY)), /^The service address is not valid/, host);
  }
  assert.equal(
    await messageOf(() => new RemoteClient('https://x', 'a b')),
    'The API key is empty or contains invalid characters. Enter it again.',
  );
  const { client } = await serve(t, (_request, response) => answerJson(response, {}));
  assert.equal(await messageOf(() => client.getJob('..')), '".." is not a valid job ID.');
  assert.equal(await messageOf(() => client.getJob('x'.repeat(300))), `"${'x'.repeat(64)}" is not a valid job ID.`);
  assert.equal(await messageOf(() => client.getJob('x'.repeat(256))), 'accepted');
  assert.equal(await messageOf(() => client.me({ timeout: 0 })), 'A timeout must be a number of seconds above zero.');
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, 'x');
  const submitWith = (idempotencyKey: string) =>
    client.submitJob(archive, { script: 's', maxRuntime: 1 }, { idempotencyKey });
  for (const key of ['', 'x'.repeat(256), 'é', 'a\nb']) {
    assert.equal(
      await messageOf(() => submitWith(key)),
      'The idempotency key must be 1 to 255 printable ASCII characters.',
    );
  }
  assert.equal(
    await messageOf(() => client.submitJob(archive, { script: 's', maxRuntime: Number.NaN })),
    'The time limit of a job must be a number.',
  );
  assert.equal(
    await messageOf(() => client.submitJob(join(archive, '..'), { script: 's', maxRuntime: 1 })),
    `${join(archive, '..')} is not a file, so it cannot be sent.`,
  );
});

test('a submission is identified by its key, and sent from the offset on', async (t) => {
  const archive = join(await makeFolder(t), 'a.tar.gz');
  await writeFile(archive, '0123456789');
  const seen: { headers: IncomingMessage['headers']; body: string }[] = [];
  const { client } = await serve(t, (request, response) => {
    void (async () => {
      seen.push({ headers: request.headers, body: (await readAll(request)).toString() });
      answerJson(response, { job_id: 'j' });
    })();
  });
  const job = { script: 's', maxRuntime: 1, secrets: ['A_B'] };
  const progress: number[] = [];
  await client.submitJob(archive, job, {
    idempotencyKey: 'a"b\\c',
    offset: 4,
    part: 'contents',
    onProgress: (bytes) => progress.push(bytes),
  });
  await client.submitJob(archive, job, { idempotencyKey: 'x'.repeat(255), offset: 10 });
  await client.submitJob(archive, job);
  assert.deepEqual(
    seen.map(({ headers }) => [headers['idempotency-key'], headers['upload-offset'], headers.accept]),
    [
      [String.raw`"a\"b\\c"`, '4', 'application/json'],
      [`"${'x'.repeat(255)}"`, '10', 'application/json'],
      [undefined, undefined, 'application/json'],
    ],
  );
  assert.deepEqual(progress, [10]);
  const [first, second, third] = seen.map(({ headers, body }) => {
    assert.equal(Number(headers['content-length']), body.length);
    const boundary = /^multipart\/form-data; boundary=(farwharf-[0-9a-f-]{36})$/.exec(
      headers['content-type'] ?? '',
    )?.[1];
    return body.replaceAll(boundary ?? assert.fail(), 'B');
  });
  const form = (part: string, name: string, type: string, bytes: string): string =>
    `--B\r\nContent-Disposition: form-data; name="meta"\r\n\r\n{"script":"s","max_runtime":1,"secrets":["A_B"]}\r\n` +
    `--B\r\nContent-Disposition: form-data; name="${part}"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n${bytes}\r\n--B--\r\n`;
  assert.equal(first, form('contents', 'contents.bin', 'application/octet-stream', '456789'));
  assert.equal(second, form('tarball', 'workspace.tar.gz', 'application/gzip', ''));
  assert.equal(third, form('tarball', 'workspace.tar.gz', 'application/gzip', '0123456789'));
  await assert.rejects(client.submitJob(archive, job, { offset: 11 }), {
    code: 'conflict',
    message: `${archive} changed during the upload, so no job was started. Submit again.`,
  });
});

test('contents are posted as bytes, and the answer is bytes', async (t) => {
  let asked: unknown;
  const { client } = await serve(t, (request, response) => {
    void (async () => {
      const { 'content-type': type, 'content-length': length } = request.headers;
      asked = [request.method, request.url, type, length, [...(await readAll(request))]];
      response.end(Buffer.of(0, 255));
    })();
  });
  assert.deepEqual([...(await client.postContents('lacking', Uint8Array.of(1, 2, 3)))], [0, 255]);
  assert.deepEqual(asked, ['POST', '/v1/contents/lacking', 'application/octet-stream', '3', [1, 2, 3]]);
});

test('all records of results are streamed, or the pieces that are asked for with bits', async (t) => {
  const asked: unknown[] = [];
  const { client } = await serve(t, (request, response) => {
    void (async () => {
      const { method, url, headers } = request;
      asked.push([method, url, headers['content-type'], [...(await readAll(request))]]);
      if (url?.includes('/gone/') === true) return answerJson(response, { detail: 'removed' }, 410);
      response.write(Buffer.of(1, 2));
      response.end(Buffer.of(3));
    })();
  });
  const read = async (...call: Parameters<typeof client.streamResultContents>): Promise<number[]> => {
    const chunks = await Array.fromAsync(client.streamResultContents(...call));
    return chunks.flatMap((chunk) => [...chunk]);
  };
  assert.deepEqual(await read('j'), [1, 2, 3]);
  assert.deepEqual(await read('j', Uint8Array.of(5, 128)), [1, 2, 3]);
  assert.deepEqual(asked, [
    ['GET', '/v1/jobs/j/artifacts/contents', undefined, []],
    ['POST', '/v1/jobs/j/artifacts/contents', 'application/octet-stream', [5, 128]],
  ]);
  assert.equal((await rejection(read('gone'))).message, 'HTTP 410: removed');
  const signal = AbortSignal.abort(new Error('enough'));
  assert.equal((await rejection(read('j', undefined, { signal }))).message, 'enough');
});

test('a successful response that cannot be used says why', async (t) => {
  const { client } = await serve(t, (request, response) => {
    if (request.url === '/v1/jobs/page') response.writeHead(200, { 'content-type': 'TEXT/HTML' }).end('<p>');
    else if (request.url === '/v1/jobs/htmlx') response.writeHead(200, { 'content-type': 'text/htmlx' }).end('{}');
    else if (request.url === '/v1/jobs/moved') response.writeHead(308, { location: '/' }).end();
    else if (request.url === '/v1/jobs/text') response.end('hello');
    else if (request.url === '/v1/secrets') answerJson(response, { secrets: [{ name: 'A', changed_at: 'soon' }] });
    else response.end('[]');
  });
  const said = async (id: string): Promise<string> => (await rejection(client.getJob(id))).message;
  assert.equal(
    await said('page'),
    "HTTP 200: the service's response is a web page. Check the service address, and whether a proxy requires a login.",
  );
  assert.deepEqual(await client.getJob('htmlx'), {});
  assert.equal(
    await said('moved'),
    'HTTP 308: the service redirects to another address. To protect your key, the redirect was not followed. Check the service address.',
  );
  assert.equal(await said('text'), "HTTP 200: the service's response is not valid JSON.");
  assert.match(
    await said('list'),
    /^HTTP 200: the service's response does not have the expected format \(Invalid input: .*\)\.$/,
  );
  assert.match(
    (await rejection(client.listSecrets())).message,
    /^HTTP 200: the service's response does not have the expected format \(secrets\.0\.changed_at: .*\)\.$/,
  );
});

test('a refusal has its status, its detail and its wait in whole seconds', async (t) => {
  const { client } = await serve(t, (request, response) => {
    const wait = request.url === '/v1/jobs/soon' ? '1.2' : 'never';
    response.setHeader('retry-after', wait);
    if (request.url === '/v1/jobs/long') answerJson(response, { detail: 'x'.repeat(2_001) }, 500);
    else if (request.url === '/v1/jobs/fits') answerJson(response, { detail: 'x'.repeat(2_000) }, 500);
    else if (request.url === '/v1/jobs/bare') response.writeHead(599, '').end();
    else answerJson(response, { detail: ' Busy. ' }, 503);
  });
  const refusal = async (id: string): Promise<RemoteError> => {
    const error = await rejection(client.getJob(id));
    assert.ok(error instanceof RemoteError);
    return error;
  };
  const { message, retryAfter, detail, status } = await refusal('soon');
  assert.deepEqual([message, retryAfter, detail, status], ['HTTP 503: Busy.', 2, 'Busy.', 503]);
  assert.equal((await refusal('later')).retryAfter, undefined);
  assert.equal((await refusal('fits')).detail, 'x'.repeat(2_000));
  assert.equal((await refusal('long')).detail, `${'x'.repeat(1_999)}…`);
  const bare = await refusal('bare');
  assert.deepEqual([bare.message, bare.detail], ['HTTP 599: unknown status', undefined]);
});

test('of the failures of all addresses the last one is reported, and a summary with a message as it is', async (t) => {
  const parts = [new Error('first'), new Error('second'), new Error('last')];
  const failing = async (error: Error) => {
    const { client } = await serve(t, () => assert.fail(), {
      fetch: async () => {
        throw new TypeError('fetch failed', { cause: Object.assign(error, { code: 'ECONNREFUSED' }) });
      },
    });
    return rejection(client.me());
  };
  assert.equal(await failing(new AggregateError(parts)), parts[2]);
  const [summary, empty] = [new AggregateError(parts, 'no address works'), new AggregateError([])];
  assert.equal(await failing(summary), summary);
  assert.equal(await failing(empty), empty);
});

test('an error of a fetch that is not about the connection is passed on as it is', async (t) => {
  for (const error of [
    new TypeError('not a URL'),
    new TypeError('wrong', { cause: new Error('why') }),
    new Error('no'),
  ]) {
    const { client } = await serve(t, () => assert.fail(), {
      fetch: async () => {
        throw error;
      },
    });
    assert.equal(await rejection(client.me()), error);
  }
});
