import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type PeerCertificate, type SecureVersion } from 'node:tls';
import { createLogger } from '../../src/core/log.ts';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { Scratch } from './commandLine.ts';
import { makeCertificate, opensslIsMissing } from './support/certificate.ts';
import { startService, temporaryFolder } from './support/service.ts';

const skip = opensslIsMissing() ?? false;

/** Shakes hands and gives the name in the certificate. */
function nameAt(
  url: string,
  options: { minVersion?: SecureVersion; maxVersion?: SecureVersion } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const ciphers = 'DEFAULT@SECLEVEL=0';
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ciphers, ...options }, () => {
      const { subject }: PeerCertificate = socket.getPeerCertificate();
      resolve(subject.CN);
      socket.end();
    });
    socket.once('error', reject);
  });
}

test('the command line reaches a service that speaks TLS, and nobody else understands it', { skip }, async () => {
  await using scratch = await Scratch.create();
  const files = makeCertificate(await scratch.folder('tls', {}), 'first');
  const config = join(scratch.root, 'service.json');
  writeFileSync(config, JSON.stringify({ tls: files }));
  const service = await scratch.serve(['--config', config, '--host', '0.0.0.0']);
  assert.match(service.url, /^https:\/\/localhost:/);
  const folder = await scratch.folder('project', { 'a.sh': 'echo over TLS' });
  const env = { ...service.env, NODE_EXTRA_CA_CERTS: files.cert };
  const watched = await scratch.run(['submit', folder, '--script', 'a.sh', '--watch'], { env });
  assert.equal(watched.exit, 0, watched.stderr);
  assert.match(watched.stdout, /over TLS/);
  const stranger = await scratch.run(['me'], { env: service.env });
  assert.equal(stranger.exit, 5, 'a certificate that nobody vouches for');
  assert.match(stranger.stderr, /self-signed/);
  await assert.rejects(nameAt(service.url, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }));
  assert.equal(await nameAt(service.url, { maxVersion: 'TLSv1.2' }), 'first');
});

test('a renewed certificate is taken up, a broken one is refused and the old one stays', { skip }, async (t) => {
  const lines: { message: string; reason?: string }[] = [];
  const log = createLogger((_level, line) => lines.push(JSON.parse(line) as never), undefined, { format: 'json' });
  const untilLogged = async (message: string): Promise<void> => {
    while (!lines.some((line) => line.message === message)) await sleep(20);
  };
  const folder = await temporaryFolder(t);
  const [first, second] = [makeCertificate(folder, 'first'), makeCertificate(folder, 'second')];
  // As certbot keeps them: the configuration names links, and a renewal moves those.
  const live = { cert: join(folder, 'live.crt'), key: join(folder, 'live.key') };
  for (const file of ['cert', 'key'] as const) symlinkSync(first[file], live[file]);
  const service = await startService(t, { config: { ...DEFAULT_CONFIG, tls: live } }, log);
  assert.equal(await nameAt(service.url), 'first');
  assert.ok(lines.some(({ message }) => message === 'the certificate expires soon'));

  for (const file of ['cert', 'key'] as const) {
    symlinkSync(second[file], `${live[file]}.new`);
    renameSync(`${live[file]}.new`, live[file]);
  }
  await untilLogged('certificate loaded');
  assert.equal(await nameAt(service.url), 'second');

  // A link to itself cannot even be looked at.
  symlinkSync(live.cert, `${live.cert}.new`);
  renameSync(`${live.cert}.new`, live.cert);
  const refusal = 'the new certificate is not valid, so the previous one stays in use';
  await untilLogged(refusal);
  assert.equal(await nameAt(service.url), 'second');
  symlinkSync(second.cert, `${live.cert}.new`);
  renameSync(`${live.cert}.new`, live.cert);
  while (lines.at(-1)?.message !== 'the certificate expires soon') await sleep(20);
  lines.length = 0;

  copyFileSync(first.cert, second.cert);
  await untilLogged(refusal);
  assert.match(lines.find(({ message }) => message === refusal)?.reason ?? '', /key values mismatch/);
  assert.equal(await nameAt(service.url), 'second');

  const answer = await new Promise<Parameters<typeof text>[0]>((resolve, reject) => {
    const { port } = new URL(service.url);
    const options = {
      port,
      path: '/metrics',
      host: 'localhost',
      ca: readFileSync(first.cert),
      checkServerIdentity: () => undefined,
    };
    get({ ...options, rejectUnauthorized: false }, resolve).once('error', reject);
  });
  const [, seconds] = /^farwharf_certificate_expires_seconds ([\d.e+]+)$/m.exec(await text(answer)) ?? [];
  assert.ok(Math.abs(Number(seconds) - (Date.now() / 1000 + 2 * 86_400)) < 600);
});

test('a service on loopback responds at the address that it prints, which is the name in its certificate', {
  skip,
}, async (t) => {
  const tls = makeCertificate(await temporaryFolder(t), 'named', { host: 'jobs.example.org' });
  const service = await startService(t, { config: { ...DEFAULT_CONFIG, tls } });
  const { host, port } = new URL(service.url);
  assert.equal(host, `jobs.example.org:${port}`);
  const statusFor = (name: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: '/healthz', headers: { host: name }, rejectUnauthorized: false };
      const request = get(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.once('error', reject);
    });
  assert.equal(await statusFor(host), 200);
  assert.equal(await statusFor(`127.0.0.1:${port}`), 200);
  assert.equal(await statusFor(`evil.example:${port}`), 400);
});

test('a certificate that cannot be used ends the start with what is wrong', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const [first, second] = [makeCertificate(folder, 'first'), makeCertificate(folder, 'second')];
  const start = (tls: typeof first) => startService(t, { config: { ...DEFAULT_CONFIG, tls } });
  await assert.rejects(start({ cert: first.cert, key: second.key }), {
    code: 'bad-input',
    message: /first\.crt.*second\.key/,
  });
  await assert.rejects(start({ cert: '/nowhere.crt', key: first.key }), { code: 'missing', message: /nowhere\.crt/ });
  const expired = makeCertificate(folder, 'expired', { days: 0 });
  await assert.rejects(start(expired), { code: 'bad-input', message: /it expired on/ });
  writeFileSync(first.cert, 'no certificate');
  await assert.rejects(start(first), { code: 'bad-input' });
});

test('serve refuses to listen to other machines in the clear, unless a proxy is said to be in front', async () => {
  await using scratch = await Scratch.create();
  const refused = await scratch.run(['serve', '--host', '0.0.0.0', '--port', '0']);
  assert.equal(refused.exit, 1);
  assert.match(refused.stderr, /without TLS anyone on the network can read keys.*\[tls\].*--behind-proxy/);
  const behind = await scratch.serve(['--host', '0.0.0.0', '--behind-proxy']);
  assert.equal((await fetch(`${behind.url}/healthz`)).status, 200);
});
