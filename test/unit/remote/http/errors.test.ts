import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { RemoteClient } from '../../../../src/remote/client.ts';
import { AuthError, InsufficientCreditsError, RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import { rejection } from '../../rejection.ts';
import { answerJson, KEY, listen, makeFolder, serve } from '../server.ts';

async function failure(t: TestContext, status: number, body: string, statusMessage?: string): Promise<Error> {
  const { client } = await serve(t, (_request, response) => response.writeHead(status, statusMessage).end(body));
  return rejection(client.me());
}

const CASES: readonly [status: number, body: string, kind: typeof RemoteError, message: string][] = [
  [401, '{"detail":"no such key"}', AuthError, 'HTTP 401: no such key'],
  [403, 'go away', AuthError, 'HTTP 403: go away'],
  [401, '', AuthError, 'HTTP 401: invalid or revoked API key'],
  [403, '{"detail":null}', AuthError, 'HTTP 403: invalid or revoked API key'],
  [402, '{"detail":"needs 5, has 2"}', InsufficientCreditsError, 'needs 5, has 2'],
  [402, '', InsufficientCreditsError, 'not enough credits'],
  [404, '{"detail":"no job"}', RemoteError, 'HTTP 404: no job'],
  [404, '', RemoteError, 'HTTP 404: Not Found'],
  [407, '', RemoteError, 'HTTP 407: Proxy Authentication Required'],
  [422, '{"detail":[{"loc":["script"]}]}', RemoteError, 'HTTP 422: [{"loc":["script"]}]'],
  [500, '{"error":"x"}', RemoteError, 'HTTP 500: {"error":"x"}'],
  [503, '{"detail":', RemoteError, 'HTTP 503: {"detail":'],
  [400, '[1]', RemoteError, 'HTTP 400: [1]'],
];

for (const [status, body, Kind, message] of CASES) {
  test(`a ${status} with the body ${JSON.stringify(body)} is a ${Kind.name}`, async (t) => {
    const error = await failure(t, status, body);
    assert.equal(error.message, message);
    assert.ok(error instanceof Kind);
    assert.ok(error instanceof RemoteError);
    assert.equal(error.name, Kind.name);
    assert.equal(error.status, status);
  });
}

test('every refusal has the explanation that the service sent, and none without one', async (t) => {
  for (const status of [401, 402, 403, 409, 429]) {
    for (const [body, detail] of [
      ['{"detail":"not today"}', 'not today'],
      ['', undefined],
    ] as const) {
      const error = await failure(t, status, body);
      assert.ok(error instanceof RemoteError);
      assert.equal(error.detail, detail, String(status));
    }
  }
});

test("an empty body gives the service's own reason phrase", async (t) => {
  assert.equal((await failure(t, 418, '', 'Short and stout')).message, 'HTTP 418: Short and stout');
});

test('a key that the service sends back is shown nowhere', async (t) => {
  const { client } = await serve(t, (request, response) => {
    const text = `bad ${request.headers.authorization} and ${KEY} and ${Buffer.from(KEY).toString('base64')}`;
    if (request.url === '/v1/me') answerJson(response, { detail: text }, 401);
    else if (request.url === '/v1/jobs/status') response.writeHead(500, KEY).end();
    else if (request.url === '/v1/jobs/redirect') response.writeHead(302, { location: `/?key=${KEY}` }).end();
    else response.end(KEY);
  });
  for (const call of [client.me(), client.getJob('status'), client.getJob('redirect'), client.getJob('json')]) {
    const shown = inspect(await rejection(call), { depth: 9, showHidden: true });
    assert.ok(!shown.includes(KEY), shown);
    assert.ok(!shown.includes(Buffer.from(KEY).toString('base64')), shown);
  }
});

test('a detail is cut at 2,000 characters and free of escape sequences', async (t) => {
  const error = await failure(t, 400, `\u001b[31mred\u001b[0m ${'x'.repeat(5_000_000)}`);
  assert.ok(error.message.startsWith('HTTP 400: red xxx'), error.message.slice(0, 40));
  assert.equal(error.message.length, 'HTTP 400: '.length + 2000);
});

test('a redirect is an error, and its target is never requested', async (t) => {
  let wasAsked = false;
  const target = await listen(
    t,
    createHttpServer((_request, response) => {
      wasAsked = true;
      response.end('{}');
    }),
  );
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `http://127.0.0.1:${target}/v1/me`;
    for (const options of [{}, { fetch }]) {
      const { client } = await serve(
        t,
        (_request, response) => response.writeHead(status, { location }).end(),
        options,
      );
      const error = await rejection(client.me());
      assert.ok(error instanceof RemoteError, inspect(error));
      assert.equal(error.status, status);
      assert.match(error.message, /redirect/);
    }
  }
  assert.equal(wasAsked, false);
});

test('a success that is no JSON object is an error that says so', async (t) => {
  for (const body of ['', 'hello', '[1]', '"x"', '{"a":', '['.repeat(2000) + ']'.repeat(2000)]) {
    const { client } = await serve(t, (_request, response) => response.end(body));
    const error = await rejection(client.me());
    assert.ok(error instanceof RemoteError, body);
    assert.match(
      error.message,
      /^HTTP 200: the service's response (?:is not valid JSON|does not have the expected format)/,
    );
  }
});

test('a web page is not taken for an answer', async (t) => {
  const { client } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>log in</html>');
  });
  assert.match((await rejection(client.downloadArtifacts('j', '/nowhere/x'))).message, /is a web page/);
  assert.match((await rejection(Array.fromAsync(client.streamEvents('j')))).message, /is a web page/);
});

test('a body that is called a web page but is none is read, because many servers call every text one', async (t) => {
  const folder = await makeFolder(t);
  const { client } = await serve(t, (request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    if (request.url?.endsWith('/events')) response.end('data: 1\n\ndata: 2\n\n');
    else if (request.url?.endsWith('/artifacts')) response.end(Buffer.from([0x1f, 0x8b, 8, 0]));
    else response.end('{"credits":5}');
  });
  assert.deepEqual(await client.me(), { credits: 5 });
  assert.deepEqual(await Array.fromAsync(client.streamEvents('j')), [
    { event: 'message', data: 1 },
    { event: 'message', data: 2 },
  ]);
  const saved = await client.downloadArtifacts('j', join(folder, 'a.tar.gz'));
  assert.deepEqual([...(await readFile(saved))], [0x1f, 0x8b, 8, 0]);
});

test('an answer of more than 32 MB is given up', async (t) => {
  let sent = 0;
  const { client } = await serve(t, (_request, response) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const send = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', send);
    send();
  });
  for (const call of [() => client.me(), () => client.postContents('asked', Buffer.alloc(32))]) {
    assert.equal((await rejection(call())).message, "HTTP 200: the service's response is larger than 32 MB.");
  }
  assert.ok(sent < 200e6);
});

test('connection errors are the errors of the system', async (t) => {
  const gone = createHttpServer();
  const port = await listen(t, gone);
  gone.close();
  for (const options of [{}, { fetch }]) {
    const error = await rejection(new RemoteClient(`http://127.0.0.1:${port}`, KEY, options).me());
    assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED');
    assert.equal((error as NodeJS.ErrnoException).syscall, 'connect');
    assert.match(error.message, /ECONNREFUSED/);
  }
  const missing = await rejection(new RemoteClient('https://does-not-exist.invalid', KEY).me());
  assert.ok(['ENOTFOUND', 'EAI_AGAIN'].includes((missing as NodeJS.ErrnoException).code ?? ''), inspect(missing));
});

test('a connection that breaks inside an answer is the error of the system', async (t) => {
  const { client } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"a":');
    setImmediate(() => response.socket?.resetAndDestroy());
  });
  const error = await rejection(client.me());
  assert.equal((error as NodeJS.ErrnoException).code, 'ECONNRESET');
  assert.ok(error.message.includes(new URL(client.host).host), error.message);
});

test("an untrusted certificate causes the system's own error", async (t) => {
  const folder = join(import.meta.dirname, '../../../fixtures/tls');
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
  let wasAsked = false;
  const server = createHttpsServer({ key, cert }, (_request, response) => {
    wasAsked = true;
    response.end('{}');
  });
  const port = await listen(t, server);
  const error = await rejection(new RemoteClient(`https://localhost:${port}`, KEY).me());
  assert.equal((error as NodeJS.ErrnoException).code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
  assert.match(error.message, /^self-signed certificate/);
  assert.ok(error.message.endsWith(` (localhost:${port})`), error.message);
  assert.ok(inspect(error).includes(error.message), inspect(error));
  assert.equal(wasAsked, false);
});
