import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { AppError } from '../../src/core/errors.ts';
import { RemoteClient } from '../../src/remote/client.ts';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { Scratch } from './commandLine.ts';
import { makeAuthority, makeCertificate, opensslIsMissing } from './support/certificate.ts';
import { ForwardProxy } from './support/forwardProxy.ts';
import { serveRemotely } from './support/remoteService.ts';
import { startService, temporaryFolder } from './support/service.ts';

const skip = opensslIsMissing() ?? false;
// Those of the test run.
const NO_TRUST = { NODE_EXTRA_CA_CERTS: '', SSL_CERT_FILE: '/nonexistent', SSL_CERT_DIR: '/nonexistent' };

test("a company's authority is trusted by NODE_EXTRA_CA_CERTS and by the system's store", { skip }, async () => {
  await using scratch = await Scratch.create();
  const remote = await serveRemotely(scratch);
  await using proxy = await ForwardProxy.start({ tunnelTo: remote.place });
  const through = { ...remote.env, HTTPS_PROXY: proxy.url(), https_proxy: '', no_proxy: '', NO_PROXY: '', ...NO_TRUST };
  const me = (trust: Record<string, string>) => scratch.run(['me'], { env: { ...through, ...trust } });
  const stranger = await me({});
  assert.equal(stranger.exit, 5);
  assert.match(
    stranger.stderr,
    /certificate of .* is not trusted \(.*\), so nothing was sent.*operating system's store.*NODE_EXTRA_CA_CERTS/,
  );
  const extra = await me({ NODE_EXTRA_CA_CERTS: remote.authority.cert });
  assert.equal(extra.exit, 0, extra.stderr);
  // Where OpenSSL finds the system's store; on other systems the store is not a file.
  if (process.platform !== 'linux') return;
  const system = await me({ SSL_CERT_FILE: remote.authority.cert });
  assert.equal(system.exit, 0, system.stderr);
});

test("without a proxy, the system's store is trusted too, besides NODE_EXTRA_CA_CERTS", {
  skip: process.platform === 'linux' ? skip : 'the store of this system is not a file',
}, async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('tls', {});
  const [one, other] = [makeAuthority(folder, 'one'), makeAuthority(folder, 'other')];
  const config = join(scratch.root, 'service.json');
  await writeFile(config, JSON.stringify({ tls: makeCertificate(folder, 'service', { authority: one }) }));
  const { env } = await scratch.serve(['--config', config]);
  const trust = { NODE_EXTRA_CA_CERTS: other.cert, SSL_CERT_FILE: one.cert };
  const both = await scratch.run(['me'], { env: { ...env, ...NO_TRUST, ...trust } });
  assert.equal(both.exit, 0, both.stderr);
});

test('a library caller gets the original TLS error', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const authority = makeAuthority(folder, 'company');
  const tls = makeCertificate(folder, 'service', { authority });
  const service = await startService(t, { config: { ...DEFAULT_CONFIG, tls } });
  await using client = new RemoteClient(service.url, service.key);
  await assert.rejects(client.me(), (error: Error & { code?: string }) => {
    assert.ok(!(error instanceof AppError));
    assert.equal(error.code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    return true;
  });
});

test('a program that has chosen its own certificates trusts no others, as those of the system', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const [own, company] = [makeAuthority(folder, 'own'), makeAuthority(folder, 'company')];
  const tls = makeCertificate(folder, 'service', { authority: company });
  const { url, key } = await startService(t, { config: { ...DEFAULT_CONFIG, tls } });
  const client = pathToFileURL(join(import.meta.dirname, '../../src/remote/client.ts')).href;
  const attempt = (choice: string): Promise<{ stdout: string }> => {
    const call = `await new RemoteClient('${url}', '${key}').me().then(() => 'reached', ({ code }) => code)`;
    const program = `import { RemoteClient } from '${client}';\n${choice}\nconsole.log(${call});`;
    const env = { ...process.env, ...NO_TRUST, SSL_CERT_FILE: company.cert };
    return promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
  };
  const choose = `import tls from 'node:tls';\nimport fs from 'node:fs';\ntls.setDefaultCACertificates([fs.readFileSync('${own.cert}', 'utf8')]);`;
  assert.match((await attempt(choose)).stdout, /UNABLE_TO_VERIFY_LEAF_SIGNATURE/);
  if (process.platform === 'linux') assert.match((await attempt('')).stdout, /reached/);
});
