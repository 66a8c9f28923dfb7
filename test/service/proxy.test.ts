import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Scratch } from './commandLine.ts';
import { opensslIsMissing } from './support/certificate.ts';
import { deadAddress, ForwardProxy } from './support/forwardProxy.ts';
import { REMOTE_NAME, serveRemotely } from './support/remoteService.ts';

const skip = opensslIsMissing() ?? false;
const PROJECT = { 'work.sh': 'echo at work; echo made > output.txt\n' };
// None of these may come from the environment of the test run.
const NO_PROXIES = { HTTP_PROXY: '', HTTPS_PROXY: '', NO_PROXY: '', http_proxy: '', https_proxy: '', no_proxy: '' };

/** All the ways in which a proxy is named to programs of Node. */
function everyVariable(url: string): Record<string, string> {
  return {
    ...NO_PROXIES,
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    NODE_USE_ENV_PROXY: '1',
  };
}

test('a job on this machine runs beside a dead proxy, and sends nothing through one that lives', async () => {
  await using scratch = await Scratch.create();
  await using proxy = await ForwardProxy.start();
  const folder = await scratch.folder('project', PROJECT);
  for (const url of [`http://${await deadAddress()}`, proxy.url()]) {
    const env = everyVariable(url);
    const done = await scratch.run(['submit', folder, '--script', 'work.sh', '--watch', '--download'], { env });
    assert.equal(done.exit, 0, done.stderr);
    assert.equal(done.stdout, 'at work\n');
  }
  assert.deepEqual(proxy.requests, []);
});

test('a service behind a proxy is reached, and the proxy reads neither the key nor the files', { skip }, async () => {
  await using scratch = await Scratch.create();
  const remote = await serveRemotely(scratch);
  await using proxy = await ForwardProxy.start({ tunnelTo: remote.place });
  const folder = await scratch.folder('project', PROJECT);
  for (const variable of ['HTTPS_PROXY', 'https_proxy']) {
    const before = proxy.requests.length;
    const env = { ...remote.env, ...NO_PROXIES, [variable]: proxy.url(), NODE_EXTRA_CA_CERTS: remote.authority.cert };
    const done = await scratch.run(['submit', folder, '--script', 'work.sh', '--watch', '--download'], { env });
    assert.equal(done.exit, 0, done.stderr);
    assert.equal(done.stdout, 'at work\n');
    assert.ok(proxy.requests.length > before);
  }
  assert.equal(await readFile(join(folder, 'output.txt'), 'utf8'), 'made\n');
  assert.deepEqual([...new Set(proxy.requests)], [`CONNECT ${REMOTE_NAME}:${remote.place.port}`]);
  assert.ok(!proxy.received().includes(remote.key));
  assert.ok(!proxy.received().includes('at work'));
});

test('hosts in NO_PROXY are not asked of the proxy', { skip }, async () => {
  await using scratch = await Scratch.create();
  await using proxy = await ForwardProxy.start();
  const remote = { FARWHARF_REMOTE_HOST: `https://${REMOTE_NAME}:9`, FARWHARF_API_KEY: 'a-key-of-this-test' };
  const env = { ...remote, ...NO_PROXIES, HTTPS_PROXY: proxy.url(), NO_PROXY: 'example.org, farwharf.test' };
  const direct = await scratch.run(['me', '--json'], { env });
  assert.equal(direct.exit, 5);
  assert.match(direct.stdout, /ENOTFOUND/);
  assert.deepEqual(proxy.requests, []);
});

test('a user name and a password for the proxy are sent to it, and appear nowhere else', { skip }, async () => {
  await using scratch = await Scratch.create();
  const remote = await serveRemotely(scratch);
  await using proxy = await ForwardProxy.start({ tunnelTo: remote.place, credentials: 'ada:pass@word' });
  const trusting = { ...remote.env, ...NO_PROXIES, NODE_EXTRA_CA_CERTS: remote.authority.cert };
  const me = (credentials?: string) => {
    const env = { ...trusting, HTTPS_PROXY: proxy.url(credentials), FARWHARF_DEBUG: '1', DEBUG: '*', NODE_DEBUG: '' };
    return scratch.run(['me'], { env });
  };
  const welcome = await me('ada:pass%40word');
  assert.equal(welcome.exit, 0, welcome.stderr);
  const nobody = await me();
  assert.equal(nobody.exit, 5);
  assert.match(
    nobody.stderr,
    new RegExp(`proxy ${proxy.address} requires a user name and a password.*USER:PASSWORD@.*HTTPS_PROXY`),
  );
  const wrong = await me('ada:wrong%40word');
  assert.equal(wrong.exit, 5);
  assert.match(
    wrong.stderr,
    new RegExp(`proxy ${proxy.address} does not accept the user name and password in HTTPS_PROXY`),
  );
  for (const { stdout, stderr } of [welcome, nobody, wrong]) {
    for (const password of ['pass@word', 'pass%40word', 'wrong@word', 'wrong%40word']) {
      const base64 = Buffer.from(`ada:${decodeURIComponent(password)}`).toString('base64');
      for (const text of [password, base64]) assert.ok(!`${stdout}${stderr}`.includes(text), stderr);
    }
  }
  assert.ok(!proxy.received().includes(remote.key));
});

test('a proxy that refuses, is dead or is none is named, with what to do; nothing was sent', { skip }, async () => {
  await using scratch = await Scratch.create();
  const remote = await serveRemotely(scratch);
  await using refusing = await ForwardProxy.start({ refusesWith: 403 });
  await using broken = await ForwardProxy.start({ refusesWith: 502 });
  const dead = await deadAddress();
  const folder = await scratch.folder('project', PROJECT);
  const cases = [
    [refusing.url(), 5, new RegExp(`proxy ${refusing.address} did not connect to ${REMOTE_NAME}:\\d+ \\(HTTP 403\\)`)],
    [broken.url(), 5, new RegExp(`proxy ${broken.address} did not connect to ${REMOTE_NAME}:\\d+ \\(HTTP 502\\)`)],
    [
      `http://ada:secret@${dead}`,
      5,
      new RegExp(`proxy ${dead} does not answer \\(ECONNREFUSED\\).*HTTPS_PROXY.*NO_PROXY`),
    ],
    ['socks5://ada:secret@127.0.0.1:1', 2, /HTTPS_PROXY is not the address of an http or https proxy/],
  ] as const;
  for (const [url, exit, message] of cases) {
    const env = { ...remote.env, ...NO_PROXIES, HTTPS_PROXY: url, NODE_EXTRA_CA_CERTS: remote.authority.cert };
    const submitted = await scratch.run(['submit', folder, '--script', 'work.sh'], { env });
    assert.equal(submitted.exit, exit, submitted.stderr);
    assert.match(submitted.stderr, message);
    assert.doesNotMatch(submitted.stderr, /secret|may be running/);
  }
});

test('a proxy that does not answer is named after 10 s, and the command ends', { skip }, async () => {
  await using scratch = await Scratch.create();
  await using silent = await ForwardProxy.start({ isSilent: true });
  const remote = { FARWHARF_REMOTE_HOST: `https://${REMOTE_NAME}:9`, FARWHARF_API_KEY: 'a-key-of-this-test' };
  const waited = await scratch.run(['me'], { env: { ...remote, ...NO_PROXIES, HTTPS_PROXY: silent.url() } });
  assert.equal(waited.exit, 5);
  assert.match(waited.stderr, new RegExp(`no connection within 10 s through the proxy ${silent.address}.*NO_PROXY`));
});
