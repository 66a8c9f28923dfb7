import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Admin, openAdmin } from '../../src/service/admin/adminClient.ts';
import { Store } from '../../src/service/store/store.ts';
import { Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { makeCertificate, opensslIsMissing } from './support/certificate.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { fillJob, HOSTILE, PageClient } from './support/servicePage.ts';

const NO_SUCH_JOB = '00000000000000000000';

function withLimits(limits: Partial<ReturnType<typeof testConfig>['limits']>) {
  const config = testConfig();
  return { ...config, limits: { ...config.limits, ...limits } };
}

async function administer(service: ServiceClient, work: (admin: Admin) => Promise<unknown>): Promise<void> {
  using admin = await openAdmin(service.data, { mayCreate: false });
  await work(admin);
}

async function signedIn(service: ServiceClient, key: string): Promise<PageClient> {
  const browser = new PageClient(service);
  const response = await browser.signIn(key);
  assert.deepEqual([response.status, response.headers.get('location')], [303, '/'], await response.text());
  return browser;
}

test("programs get the same answers at the page's addresses as from a service without a page", async (t) => {
  const config = testConfig();
  const [service, plain] = [
    await startService(t),
    await startService(t, { config: { ...config, page: { enabled: false } } }),
  ];
  const answers = async ({ url }: ServiceClient, path: string, headers: Record<string, string>) => {
    const response = await fetch(url + path, { headers });
    return [response.status, response.headers.get('content-type'), await response.text()];
  };
  for (const path of ['/', '/jobs/x', '/operator?code=x', '/sign-in', '/v1/me', '/nothing']) {
    for (const accept of ['application/json', '*/*', 'text/plain']) {
      const expected = await answers(plain, path, { accept });
      assert.deepEqual(await answers(service, path, { accept }), expected, `${path} ${accept}`);
    }
    const withOrigin = { accept: '*/*', origin: 'https://evil.example' };
    if (['/', '/jobs/x', '/v1/me'].includes(path))
      assert.deepEqual(await answers(service, path, withOrigin), await answers(plain, path, withOrigin), path);
  }
  assert.equal((await fetch(plain.url, { headers: { accept: 'text/html' } })).status, 404, 'it is switched off');
  assert.equal((await fetch(service.url, { headers: { accept: 'text/html' } })).status, 200);
  await administer(plain, (admin) => assert.rejects(admin.call('page.link', {}), /\[page\]/));
});

test('a person signs in with a key, sees the own jobs, their output and credits, and signs out', async (t) => {
  const service = await startService(t);
  const { client } = await addAccount(service, 'ada');
  const job = await client.submit({ 'a.sh': 'echo hello from the job; exit 3' }, { script: 'a.sh', project: 'vision' });
  await client.untilEnd(job);
  const browser = new PageClient(service);
  assert.match(await (await browser.get('/')).text(), /<label for="key">API key<\/label>/);
  assert.equal((await browser.get(`/jobs/${job}`)).status, 401, 'nobody has signed in');
  const signIn = await browser.signIn(client.key);
  assert.equal(signIn.status, 303);
  assert.match(browser.setCookie, /^farwharf=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.ok(!browser.setCookie.includes(client.key));

  const response = await browser.get('/');
  const start = await response.text();
  for (const shown of [`href="/jobs/${job}"`, 'failed', 'vision', 'Credits to spend', 'exit code 3'])
    assert.ok(start.toLowerCase().includes(shown.toLowerCase()), shown);
  assert.ok(!start.includes(client.key));
  const { headers } = response;
  assert.match(
    headers.get('content-security-policy') ?? '',
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('vary'), 'Accept');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('referrer-policy'), 'same-origin');
  assert.equal(headers.get('strict-transport-security'), null);
  assert.doesNotMatch(start, /<script|javascript:|https?:\/\//i);
  const page = await (await browser.get(`/jobs/${job}`)).text();
  assert.match(page, /hello from the job/);

  const stolen = new PageClient(service);
  stolen.cookie = browser.cookie;
  assert.equal((await stolen.get(`/jobs/${job}`)).status, 200);
  assert.equal((await browser.post('/sign-out')).status, 303);
  assert.match(browser.setCookie, /Max-Age=0/);
  assert.equal((await stolen.get(`/jobs/${job}`)).status, 401, 'the session itself has ended');
});

test("a session shows nothing of other accounts, and another account's job as one that never was", async (t) => {
  const service = await startService(t);
  const { client: ada } = await addAccount(service, 'ada');
  const { client: bob } = await addAccount(service, 'bob');
  const job = await ada.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  await ada.untilEnd(job);
  const browser = await signedIn(service, bob.key);
  const look = async (path: string) => {
    const response = await browser.get(path);
    return [response.status, (await response.text()).replaceAll(job, NO_SUCH_JOB)];
  };
  const none = await look(`/jobs/${NO_SUCH_JOB}`);
  assert.equal(none[0], 404);
  assert.deepEqual(await look(`/jobs/${job}`), none);
  assert.deepEqual(await look(`/?before=${job}`), await look(`/?before=${NO_SUCH_JOB}`));
  for (const path of ['/', '/operator?code=x']) assert.ok(!String((await look(path))[1]).includes('ada'), path);
  assert.match(String((await look('/'))[1]), /You have no jobs yet/);
});

test('a session gives its key nothing that the key does not have: scopes, budget, rate', async (t) => {
  const service = await startService(t, { config: withLimits({ requests_per_minute: 8 }) });
  const { client } = await addAccount(service, 'ada');
  const job = await client.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  using admin = await openAdmin(service.data, { mayCreate: false });
  const { key } = await admin.call('keys.add', { account_id: 'ada', budget: 5, scopes: ['submit'] });
  const agent = await signedIn(service, key);
  const start = await (await agent.get('/')).text();
  assert.match(start, /Credits to spend<\/dt><dd>5<\/dd>/);
  assert.doesNotMatch(start, /Spent|Reserved/, 'what the account has is not for this key');
  assert.ok(!start.includes(job));
  assert.match(start, /does not have the scope &quot;read&quot;/);
  const refused = await agent.get(`/jobs/${job}`);
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /scope &quot;read&quot;/);
  // The account's requests, through whatever door.
  const statuses = new Set<number>();
  for (let count = 0; count < 9; count += 1) statuses.add((await agent.get('/')).status);
  assert.ok(statuses.has(429));
  const limited = await client.request('/v1/me');
  assert.equal(limited.status, 429);
});

test('a revoked or expired key and a disabled account end the session at once, and for good', async (t) => {
  const service = await startService(t);
  const { client, keyId } = await addAccount(service, 'ada');
  const browsers = [await signedIn(service, client.key), await signedIn(service, client.key)];
  const look = async (browser: PageClient) => {
    const response = await browser.get('/');
    return { status: response.status, text: await response.text() };
  };
  const [first, second] = browsers as [PageClient, PageClient];
  await administer(service, (admin) => admin.call('accounts.disable', { account_id: 'ada' }));
  const disabled = await look(first);
  assert.equal(disabled.status, 403);
  assert.match(disabled.text, /The account ada is disabled/);
  assert.match(disabled.text, /id="key"/);
  await administer(service, (admin) => admin.call('accounts.enable', { account_id: 'ada' }));
  assert.match((await look(first)).text, /<h1>Sign in<\/h1>/, 'this session has seen its end');
  assert.match((await look(second)).text, /<h1>Your jobs<\/h1>/);
  await administer(service, (admin) => admin.call('keys.revoke', { key_id: keyId }));
  const revoked = await look(second);
  assert.equal(revoked.status, 401);
  assert.match(revoked.text, /was revoked/);
  assert.equal((await new PageClient(service).signIn(client.key)).status, 401);
});

test('forms that another site sends are refused, and so is a key in an address', async (t) => {
  const service = await startService(t);
  const { client } = await addAccount(service, 'ada');
  const browser = await signedIn(service, client.key);
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: service.url.replace('127.0.0.1', '127.0.0.2'), 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of foreign) {
    for (const path of ['/sign-out', '/sign-in', '/operator']) {
      const response = await browser.post(path, { key: client.key }, headers);
      assert.equal(response.status, 403, `${path} ${JSON.stringify(headers)}`);
      assert.equal(response.headers.get('set-cookie'), null);
    }
  }
  assert.equal((await browser.get('/')).status, 200, 'nobody signed out');
  const asJson = await fetch(`${service.url}/sign-in`, {
    method: 'POST',
    headers: { accept: 'text/html', 'content-type': 'application/json', origin: service.url },
    body: JSON.stringify({ key: client.key }),
  });
  assert.equal(asJson.status, 415);
  const inAddress = await new PageClient(service).get(`/?key=${client.key}`);
  assert.match(await inAddress.text(), /<h1>Sign in<\/h1>/);
  const large = await new PageClient(service).signIn('x'.repeat(100_000));
  assert.equal(large.status, 413);
});

test('wrong keys of the form count like all others', async (t) => {
  const service = await startService(t, { config: withLimits({ wrong_keys_per_minute: 5 }) });
  const { client: known } = await addAccount(service, 'ada');
  const { client: unknown } = await addAccount(service, 'bob');
  await signedIn(service, known.key);
  const tries = await Promise.all(Array.from({ length: 7 }, () => new PageClient(service).signIn('fw_guess')));
  assert.deepEqual(
    tries.map(({ status }) => status).toSorted((one, other) => one - other),
    [401, 401, 401, 401, 401, 429, 429],
  );
  const limited = await new PageClient(service).signIn(unknown.key);
  assert.equal(limited.status, 429);
  assert.match(limited.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await unknown.request('/v1/me')).status, 429, 'the limit is the same');
  await signedIn(service, known.key);
  assert.equal((await new PageClient(service).post('/operator', { code: 'guess' })).status, 429);
});

test('an operator opens the page with a link that works once; it shows the service and no output of jobs', async (t) => {
  await using scratch = await Scratch.create();
  const service = await startService(t);
  const { client } = await addAccount(service, 'ada');
  const job = await client.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  await client.untilEnd(job);
  await administer(service, (admin) => admin.call('accounts.edit', { account_id: 'ada', name: HOSTILE.slice(0, 180) }));
  await administer(service, (admin) => admin.call('service.drain', { reason: 'new disks' }));
  const printed = await scratch.run(['admin', 'page', '--data', service.data]);
  assert.equal(printed.exit, 0, printed.stderr);
  const url = new URL(printed.stdout.trim());
  assert.equal(url.origin, service.url);
  const browser = new PageClient(service);
  const asked = await (await browser.get(url.pathname + url.search)).text();
  const code = /name="code" value="([\w-]{43})"/.exec(asked)?.[1] ?? '';
  assert.equal(url.searchParams.get('code'), code);
  assert.equal((await new PageClient(service).get('/')).status, 200, 'looking at the link does not use it');
  assert.equal((await browser.post('/operator', { code })).status, 303);
  const again = await new PageClient(service).post('/operator', { code });
  assert.equal(again.status, 401);
  assert.match(await again.text(), /was used or has expired/);
  const page = await (await browser.get('/')).text();
  for (const shown of ['draining', 'This month', '<th scope="row" class="name">ada</th>', '&lt;img src=x']) {
    assert.ok(page.includes(shown), shown);
  }
  assert.doesNotMatch(page, /<script|<img/);
  const forms = [...page.matchAll(/<form[^>]* action="([^"]+)"/g)].map(([, action]) => action);
  assert.deepEqual(forms, ['/sign-out'], 'nothing can be changed here');
  assert.equal((await browser.get(`/jobs/${job}`)).status, 404);
  using admin = await openAdmin(service.data, { mayCreate: false });
  const { entries } = await admin.call('audit.list', { verb: 'page' });
  assert.deepEqual(
    entries.map(({ verb, outcome }) => [verb, outcome]),
    [['page.link', 'done']],
  );
  assert.ok(!JSON.stringify(entries).includes(code));

  const drained = await (await (await signedIn(service, client.key)).get('/')).text();
  assert.match(drained, /has drained it: new disks\./);
  await service.stop();
  const stopped = await scratch.run(['admin', 'page', '--data', service.data]);
  assert.equal(stopped.exit, 1);
  assert.match(stopped.stderr, /No service with a page is running/);
});

test('with TLS, the cookie goes through TLS only, and no other host of the domain can set it', async (t) => {
  const missing = opensslIsMissing();
  if (missing !== undefined) return t.skip(missing);
  const tls = makeCertificate(await temporaryFolder(t), 'service');
  const proxied = { ...testConfig(), proxy: { addresses: ['127.0.0.1'] } };
  for (const config of [{ ...testConfig(), tls }, proxied]) {
    const { url, key } = await startService(t, { config });
    const { request } = url.startsWith('https') ? https : http;
    const sent = request(`${url}/sign-in`, {
      method: 'POST',
      rejectUnauthorized: false,
      headers: {
        accept: 'text/html',
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    sent.end(new URLSearchParams({ key }).toString());
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
    response.resume();
    assert.match(
      response.headers['set-cookie']?.[0] ?? '',
      /^__Host-farwharf=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  }
  return undefined;
});

test('the output of a job is shown from its end, part by part, clean and complete', async (t) => {
  const data = await temporaryFolder(t);
  const id = 'a'.repeat(20);
  const lines = Array.from({ length: 9_000 }, (_, index) => `line ${index}: ${'.'.repeat(60)}\n`);
  const store = new Store(data, 1e9);
  const output = [...lines, '10 %\r50 %\r100 %\n', HOSTILE];
  await fillJob(store, id, { account: 'local', state: 'failed', reason: HOSTILE, output });
  store.dispose();
  const service = await startService(t, { data });
  const browser = await signedIn(service, service.key);
  let path: string | undefined = `/jobs/${id}`;
  const parts: string[] = [];
  while (path !== undefined) {
    const page: string = await (await browser.get(path)).text();
    assert.ok(page.length < 1_000_000, 'a part is bounded');
    assert.doesNotMatch(page, /<script|<img|\u001b|\u202e|\u0007/);
    parts.unshift(/<pre>(.*)<\/pre>/s.exec(page)?.[1] ?? '');
    path = /href="([^"]+)">Earlier output/.exec(page)?.[1];
  }
  assert.ok(parts.length > 2);
  const whole = parts.join('');
  assert.ok(whole.startsWith(lines.join('').slice(0, 300_000)));
  assert.match(parts.at(-1) ?? '', /\n100 %\n&lt;img src=x/);
  assert.doesNotMatch(whole, /50 %/);
});

test('ten thousand jobs are shown page by page, each once, newest first', async (t) => {
  const data = await temporaryFolder(t);
  const store = new Store(data, 1e12);
  const ids = Array.from({ length: 10_000 }, (_, index) => index.toString(16).padStart(20, '0'));
  await fillJob(store, ids[0] ?? '', { account: 'local' });
  store.dispose();
  const database = new DatabaseSync(join(data, 'service.db'));
  const columns = database
    .prepare("SELECT name FROM pragma_table_info('jobs') WHERE name NOT IN ('number', 'id')")
    .all();
  const names = columns.map(({ name }) => String(name)).join(', ');
  database.exec(`WITH RECURSIVE copies (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM copies WHERE i < 9999)
    INSERT INTO jobs (id, ${names}) SELECT printf('%020x', i), ${names} FROM copies, (SELECT * FROM jobs) ORDER BY i`);
  database.close();
  const service = await startService(t, { data });
  const browser = await signedIn(service, service.key);
  const seen: string[] = [];
  let path: string | undefined = '/';
  while (path !== undefined) {
    const page: string = await (await browser.get(path)).text();
    seen.push(...[...page.matchAll(/href="\/jobs\/(\w+)"/g)].map(([, id = '']) => id));
    path = /href="([^"]+)">Older jobs/.exec(page)?.[1];
  }
  assert.deepEqual(seen, ids.toReversed());
});
