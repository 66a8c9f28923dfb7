import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const TLS = join(import.meta.dirname, '../../../fixtures/tls');
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
