import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finished, jsonLines, Scratch } from './commandLine.ts';
import { Browser } from './support/formBrowser.ts';
import { freePort } from './support/freePort.ts';
import { CLIENT_ID, TestProvider } from './support/identityProvider.ts';

/** `farwharf serve` that ada can sign in to, at an address that is the audience of its tokens. */
async function serveFor(scratch: Scratch, provider: { readonly issuer: string }, port: number) {
  const url = `http://127.0.0.1:${port}`;
  const path = join(scratch.root, `service-${port}.toml`);
  const text = `
    [process]
    isolation = "none"
    [oidc]
    issuer = "${provider.issuer}"
    client_id = "${CLIENT_ID}"
    audience = "${url}"
    rules = [{ claim = "groups", values = ["staff"], credits = 100 }]`;
  await writeFile(path, text, { mode: 0o600 });
  return scratch.serve(['--port', String(port), '--config', path]);
}

async function start(t: TestContext) {
  const scratch = await Scratch.create();
  t.after(() => scratch[Symbol.asyncDispose]());
  const provider = await TestProvider.start(t, { ada: { groups: ['staff'] } });
  const service = await serveFor(scratch, provider, await freePort());
  return { scratch, provider, service };
}

/** Runs `farwharf login`, and signs in on the page that it names. */
async function login(scratch: Scratch, host: string, person = 'ada', isJson = true): Promise<Finished> {
  let isOpened = false;
  return scratch.run(['login', '--remote', host, ...(isJson ? ['--json'] : [])], {
    onOutput: ({ stdout, stderr }) => {
      const page = /https?:\/\/[^\s"]+user_code=[\w-]+/.exec(isJson ? stdout : stderr)?.[0];
      if (page === undefined || isOpened) return;
      isOpened = true;
      void new Browser().signIn(page, person);
    },
  });
}

function signInFile(scratch: Scratch, url: string): string {
  return join(scratch.home, 'signIns', new URL(url).host.replace(':', '_'));
}

/** Waits until the access token of a short life has to be renewed. */
async function untilStale(path: string): Promise<void> {
  for (;;) {
    const { fresh_until: until } = JSON.parse(await readFile(path, 'utf8')) as { fresh_until: number };
    if (Date.now() > until) return;
    await sleep(until - Date.now() + 10);
  }
}

test('a person signs in with a code, works without a key, and signs out', async (t) => {
  const { scratch, provider, service } = await start(t);
  const { url } = service;
  const before = await scratch.run(['me', '--remote', url]);
  assert.equal(before.exit, 3);
  assert.ok(before.stderr.includes(`farwharf login --remote ${url}`), before.stderr);

  const done = await login(scratch, url, 'ada', false);
  assert.equal(done.exit, 0, done.stderr);
  assert.match(done.stdout, /^Signed in to 127\.0\.0\.1:\d+ as ada\.$/m);
  assert.ok(done.stderr.includes(`with ${new URL(provider.issuer).host}, open`), done.stderr);
  const file = signInFile(scratch, url);
  assert.equal((await stat(file)).mode & 0o777, 0o600);

  const folder = await scratch.folder('work', { 'a.sh': 'echo from ada' });
  const job = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch', '--remote', url]);
  assert.equal(job.exit, 0, job.stderr);
  assert.match(job.stdout, /from ada/);

  const stored = JSON.parse(await readFile(file, 'utf8')) as { refresh_token: string };
  const out = await scratch.run(['logout', '--remote', url]);
  assert.match(out.stdout, /^Signed out of/);
  assert.deepEqual(
    (await readdir(join(scratch.home, 'signIns'))).filter((name) => !name.startsWith('lock')),
    [],
  );
  await assert.rejects(
    provider.token({ grant_type: 'refresh_token', refresh_token: stored.refresh_token, resource: url }),
    /invalid_grant/,
  );
  assert.equal((await scratch.run(['me', '--remote', url])).exit, 3);
  assert.match((await scratch.run(['logout', '--remote', url])).stdout, /were not signed in/);
});

test('tokens are renewed by one process at a time, and a person who was removed at the provider is refused then', async (t) => {
  const { scratch, provider, service } = await start(t);
  provider.tokenLife = 6;
  assert.equal((await login(scratch, service.url)).exit, 0);
  const file = signInFile(scratch, service.url);
  await untilStale(file);
  provider.tokenLife = 300;
  const before = provider.requests.filter((path) => path === '/token').length;
  const all = await Promise.all(Array.from({ length: 4 }, () => scratch.run(['me', '--remote', service.url])));
  for (const { exit, stderr } of all) assert.equal(exit, 0, stderr);
  assert.equal(provider.requests.filter((path) => path === '/token').length, before + 1);

  const stored = JSON.parse(await readFile(file, 'utf8')) as { fresh_until: number };
  await writeFile(file, JSON.stringify({ ...stored, fresh_until: 0 }));
  provider.people.delete('ada');
  const refused = await scratch.run(['me', '--remote', service.url]);
  assert.equal(refused.exit, 3, refused.stderr);
  assert.match(refused.stderr, /Your sign-in to 127\.0\.0\.1:\d+ has ended\. Sign in again:/);
});

test('a log is followed for longer than a token lives', async (t) => {
  const { scratch, provider, service } = await start(t);
  provider.tokenLife = 4;
  assert.equal((await login(scratch, service.url)).exit, 0);
  const folder = await scratch.folder('work', {
    'a.sh': 'for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; sleep 1; done',
  });
  const done = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch', '--remote', service.url]);
  assert.equal(done.exit, 0, done.stderr);
  assert.deepEqual(
    done.stdout.split('\n').filter((line) => line.startsWith('line ')),
    Array.from({ length: 10 }, (_, index) => `line ${index + 1}`),
  );
});

/** A service that says where people sign in as the test wants, and notes what it is sent. */
async function startHostile(t: TestContext, description: (url: string) => object) {
  const seen: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(request.url?.startsWith('/.well-known/') === true ? description(url) : { account_id: 'x' }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, requests: () => seen.length, bearers: () => seen.flatMap(({ authorization }) => authorization ?? []) };
}

const describing = (url: string, issuer: string, more: object = {}) => ({
  resource: url,
  authorization_servers: [issuer],
  bearer_methods_supported: ['header'],
  scopes_supported: ['openid', 'offline_access'],
  client_id: CLIENT_ID,
  ...more,
});

test('a log is followed while the provider gives no tokens for a while', async (t) => {
  const { scratch, provider, service } = await start(t);
  provider.tokenLife = 4;
  assert.equal((await login(scratch, service.url)).exit, 0);
  const gate = join(scratch.root, 'gate');
  const folder = await scratch.folder('work', {
    'a.sh': `echo begun; while [ ! -e ${gate} ]; do sleep 0.1; done; echo done`,
  });
  const failures: [number, string][] = [
    [500, '<h1>Error</h1>'],
    [503, '{"error":"temporarily_unavailable"}'],
  ];
  let requests = 0;
  const done = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch', '--remote', service.url], {
    onOutput: ({ stdout }) => {
      if (requests > 0 || !stdout.includes('begun')) return;
      requests = 1;
      provider.answerWith((_, response) => {
        const [status = 500, body = ''] = failures[requests % 2] ?? [];
        requests += 1;
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
        if (requests < 4) return;
        provider.answerAgain();
        void writeFile(gate, '');
      });
    },
  });
  assert.deepEqual([done.exit, done.stdout], [0, 'begun\ndone\n'], done.stderr);
  assert.equal(requests, 4);
});

test('a hostile service gets no token that works at another one', async (t) => {
  const { scratch, provider, service } = await start(t);

  await t.test('when it names the provider and the client of the other', async (t) => {
    const hostile = await startHostile(t, (url) => describing(url, provider.issuer));
    assert.equal((await login(scratch, hostile.url)).exit, 0);
    const [bearer = ''] = hostile.bearers();
    assert.match(bearer, /^Bearer eyJ/);
    const replayed = await fetch(`${service.url}/v1/me`, { headers: { authorization: bearer } });
    assert.equal(replayed.status, 401);
    assert.match(((await replayed.json()) as { detail: string }).detail, /for another service/);
  });
  await t.test('when the provider gives each client the same audience', async (t) => {
    provider.audience = service.url;
    t.after(() => (provider.audience = undefined));
    const hostile = await startHostile(t, (url) => describing(url, provider.issuer));
    const done = await login(scratch, hostile.url);
    assert.equal(done.exit, 1, done.stderr);
    assert.match(done.stderr, /issued no token for http/);
    assert.deepEqual(hostile.bearers(), []);
  });
  await t.test('when it says that it is the other', async (t) => {
    const hostile = await startHostile(t, () => describing(service.url, provider.issuer));
    const done = await login(scratch, hostile.url);
    assert.equal(done.exit, 1, done.stderr);
    assert.ok(done.stderr.includes(`it calls itself ${service.url}`), done.stderr);
    assert.deepEqual(hostile.bearers(), []);
  });
  await t.test('when somebody who has signed in to the other asks it', async (t) => {
    assert.equal((await login(scratch, service.url)).exit, 0);
    const hostile = await startHostile(t, (url) => describing(url, provider.issuer));
    assert.equal((await scratch.run(['me', '--remote', hostile.url])).exit, 3);
    assert.deepEqual(hostile.bearers(), []);
  });
  await t.test('when a sign-in was copied to its name', async (t) => {
    const hostile = await startHostile(t, (url) => describing(url, provider.issuer));
    await writeFile(signInFile(scratch, hostile.url), await readFile(signInFile(scratch, service.url)), {
      mode: 0o600,
    });
    assert.equal((await scratch.run(['me', '--remote', hostile.url])).exit, 3);
    assert.deepEqual(hostile.bearers(), []);
  });
  await t.test('when the provider gives tokens that nobody can read', async (t) => {
    provider.isOpaque = true;
    t.after(() => (provider.isOpaque = false));
    const hostile = await startHostile(t, (url) => describing(url, provider.issuer));
    const done = await login(scratch, hostile.url);
    assert.equal(done.exit, 1, done.stderr);
    assert.deepEqual(hostile.bearers(), []);
  });
});

test('a refresh token goes to the provider that gave it, whatever the service says later', async (t) => {
  const scratch = await Scratch.create();
  t.after(() => scratch[Symbol.asyncDispose]());
  const provider = await TestProvider.start(t, { ada: { groups: ['staff'] } });
  const other = await startHostile(t, (url) => ({ issuer: url, token_endpoint: `${url}/token` }));
  let issuer = provider.issuer;
  const service = await startHostile(t, (url) => describing(url, issuer));
  assert.equal((await login(scratch, service.url)).exit, 0);
  issuer = other.url;
  const file = signInFile(scratch, service.url);
  const stored = JSON.parse(await readFile(file, 'utf8')) as { fresh_until: number };
  await writeFile(file, JSON.stringify({ ...stored, fresh_until: 0 }));
  const before = provider.requests.length;
  assert.equal((await scratch.run(['me', '--remote', service.url])).exit, 0);
  assert.ok(provider.requests.slice(before).includes('/token'));
  assert.equal(other.requests(), 0);
});

test('a sign-in with an identity provider that answers anything at all ends with a sentence', async (t) => {
  const scratch = await Scratch.create();
  t.after(() => scratch[Symbol.asyncDispose]());
  const inside: string[] = [];
  const secret = createServer((request, response) => {
    inside.push(request.url ?? '');
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(secret, 'listening');
  t.after(() => secret.close());
  const secretUrl = `http://127.0.0.1:${(secret.address() as AddressInfo).port}`;
  const answers: Record<
    string,
    [answer: (issuer: string, path: string) => [number, string, string?], sentence: RegExp]
  > = {
    'a redirect to another address': [
      () => [302, '', `${secretUrl}/metadata`],
      /redirects to another address, which was not followed/,
    ],
    '10 MB': [() => [200, `"${'x'.repeat(10_000_000)}"`], /sent more than/],
    'a page': [() => [200, '<h1>Hello</h1>'], /cannot be used/],
    'the metadata of another': [() => [200, JSON.stringify({ issuer: secretUrl })], /cannot be used/],
    'an address in the cloud': [
      (issuer) => [200, JSON.stringify({ issuer, token_endpoint: 'http://169.254.169.254/token' })],
      /its token_endpoint is not an https URL/,
    ],
    'no device flow': [
      (issuer) => [200, JSON.stringify({ issuer, token_endpoint: `${issuer}/t` })],
      /offers no device flow/,
    ],
    'a code with control characters': [
      (issuer, path) =>
        path.startsWith('/.well-known')
          ? [
              200,
              JSON.stringify({ issuer, token_endpoint: `${issuer}/t`, device_authorization_endpoint: `${issuer}/d` }),
            ]
          : path === '/d'
            ? [
                200,
                JSON.stringify({
                  device_code: 'd',
                  user_code: 'A\u001b[2J\u0007B',
                  verification_uri: `${issuer}/device`,
                  expires_in: 1,
                  interval: 1,
                }),
              ]
            : [400, JSON.stringify({ error: 'access_denied', error_description: '\u001b[31mno\nway' })],
      /was refused at/,
    ],
    'a page that runs a program': [
      (issuer, path) =>
        path.startsWith('/.well-known')
          ? [
              200,
              JSON.stringify({ issuer, token_endpoint: `${issuer}/t`, device_authorization_endpoint: `${issuer}/d` }),
            ]
          : [
              200,
              JSON.stringify({ device_code: 'd', user_code: 'AB', verification_uri: 'file:///bin/sh', expires_in: 9 }),
            ],
      /returned the address of a page that cannot be opened/,
    ],
  };
  for (const [name, [answer, sentence]] of Object.entries(answers)) {
    await t.test(`it answers ${name}`, async (t) => {
      const provider = createServer((request, response) => {
        const [status, body, location] = answer(issuer, request.url ?? '');
        response.writeHead(status, { 'content-type': 'application/json', ...(location !== undefined && { location }) });
        response.end(body);
      }).listen(0, '127.0.0.1');
      await once(provider, 'listening');
      t.after(() => provider.close());
      const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
      const service = await startHostile(t, (url) => describing(url, issuer));
      const done = await scratch.run(['login', '--remote', service.url]);
      assert.notEqual(done.exit, 0);
      assert.match(done.stderr, sentence);
      assert.ok(!/[\u0007\u001b]/.test(done.stderr + done.stdout));
      assert.deepEqual(service.bearers(), []);
    });
  }
  assert.deepEqual(inside, []);
});

test('a person whom the service does not admit is not asked to sign in again', async (t) => {
  const { scratch, provider, service } = await start(t);
  provider.people.set('bob', { groups: ['guests'] });
  const refused = await login(scratch, service.url, 'bob', false);
  assert.equal(refused.exit, 3);
  assert.match(refused.stderr, /refused the request \(HTTP 403: .*Ask its operator to admit you or your group\)\.\n$/);
});

test('services without a provider, and this machine, are no place to sign in', async (t) => {
  const scratch = await Scratch.create();
  t.after(() => scratch[Symbol.asyncDispose]());
  const { url } = await scratch.serve();
  const plain = await scratch.run(['login', '--remote', url, '--json']);
  assert.equal(plain.exit, 2);
  assert.match(plain.stderr, /offers no sign-in.*API key/);
  assert.deepEqual(Object.keys(jsonLines(plain.stdout)[0] ?? {}), ['error']);
  const local = await scratch.run(['login']);
  assert.equal(local.exit, 2);
  assert.match(local.stderr, /need no sign-in.* farwharf login --remote /);
  const out = await scratch.run(['logout']);
  assert.match(out.stderr, /need no sign-in.* farwharf logout --remote /);
});

test('serve --check says whether people can sign in, and what is wrong', async (t) => {
  const { scratch, provider, service } = await start(t);
  const path = join(scratch.root, `service-${new URL(service.url).port}.toml`);
  const check = () => scratch.run(['serve', '--check', '--config', path, '--data', join(scratch.root, 'other')]);
  const good = await check();
  assert.ok(good.stderr.includes(`ok       people can sign in at ${provider.issuer}`), good.stderr);
  await provider.stop();
  const bad = await check();
  assert.equal(bad.exit, 1);
  assert.match(bad.stderr, /PROBLEM {2}people can sign in at \S+: The identity provider \S+ cannot be reached/);
});
