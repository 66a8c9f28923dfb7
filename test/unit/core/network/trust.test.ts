import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';

const TLS = join(import.meta.dirname, '../../../fixtures/tls');
const TRUST = JSON.stringify(new URL('../../../../src/core/network/trust.ts', import.meta.url).href);
const MODULE = JSON.stringify(new URL('../../../../src/core/network/networkFetch.ts', import.meta.url).href);

test("a certificate is trusted if it is in the system's store, and a connection without it is not made", {
  skip: process.platform !== 'linux' && 'ONLY ON LINUX: elsewhere the store is not a file',
}, async (t) => {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(TLS, name)));
  let asked = 0;
  const server = createServer({ key, cert }, (_request, response) => {
    asked += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const program = `
    const { createNetworkFetch } = await import(${MODULE});
    const { status, code } = await createNetworkFetch()('${url}', { headers: { connection: 'close' } }).catch((error) => error);
    console.log(status ?? code);`;
  const fetchTrusting = async (store: string): Promise<string> => {
    const env = { ...process.env, SSL_CERT_FILE: store, SSL_CERT_DIR: '/nonexistent' };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
    return stdout.trim();
  };
  assert.equal(await fetchTrusting('/nonexistent'), 'DEPTH_ZERO_SELF_SIGNED_CERT');
  assert.equal(asked, 0);
  assert.equal(await fetchTrusting(join(TLS, 'cert.pem')), '200');
  assert.equal(asked, 1);
});

test("the system's store counts only for what it adds to Node's certificates, and not if the program has chosen its own", {
  skip: process.platform !== 'linux' && 'ONLY ON LINUX: elsewhere the store is not a file',
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-trust-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const known = join(folder, 'known.pem');
  writeFileSync(known, (rootCertificates[0] ?? '').replaceAll('\n', '\r\n'));
  const trust = async (store: string, before = ''): Promise<string> => {
    const program = `
      import { rootCertificates, setDefaultCACertificates } from 'node:tls';
      const { systemTrust } = await import(${TRUST});
      ${before}
      console.log(typeof systemTrust());`;
    const env = { ...process.env, SSL_CERT_FILE: store, SSL_CERT_DIR: '/nonexistent' };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
    return stdout.trim();
  };
  const more = join(TLS, 'cert.pem');
  assert.deepEqual(
    [await trust('/nonexistent'), await trust(known), await trust(more)],
    ['undefined', 'undefined', 'object'],
  );
  assert.equal(await trust(more, 'setDefaultCACertificates(rootCertificates.slice(1));'), 'undefined');
});
