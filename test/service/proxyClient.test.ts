import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { createNetworkFetch } from '../../src/core/network/networkFetch.ts';
import { RemoteClient } from '../../src/remote/client.ts';
import { NetworkError } from '../../src/remote/http/remoteErrors.ts';
import { makeAuthority, makeCertificate, opensslIsMissing } from './support/certificate.ts';
import { ForwardProxy, type ProxyOptions } from './support/forwardProxy.ts';
import { temporaryFolder } from '../unit/workspace/temporaryFolder.ts';

declare module 'tls' {
  // The Node.js that runs the tests has it; the lowest one, whose types these are, does not.
  function setDefaultCACertificates(certificates: readonly string[]): void;
}

const given = { skip: opensslIsMissing() ?? false, timeout: 60_000 };
const NAME = 'jobs.farwharf.test';
const KEY = 'fw_the-key-of-this-test';

interface Behind {
  readonly client: RemoteClient;
  readonly proxy: ForwardProxy;
  readonly server: Server;
}

/** A client of a service with the given responses, behind a proxy that this process finds in its environment. */
async function behindProxy(t: TestContext, answer: RequestListener, options: ProxyOptions = {}): Promise<Behind> {
  const folder = temporaryFolder(t);
  const authority = makeAuthority(folder, 'company');
  const files = makeCertificate(folder, 'service', { host: NAME, authority });
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, readFileSync(authority.cert, 'utf8')]);
  const server = createServer({ cert: readFileSync(files.cert), key: readFileSync(files.key) }, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const proxy = await ForwardProxy.start({ tunnelTo: { host: '127.0.0.1', port }, ...options });
  const before = { ...process.env };
  for (const name of ['https_proxy', 'no_proxy', 'NO_PROXY']) delete process.env[name];
  process.env['HTTPS_PROXY'] = proxy.url();
  const client = new RemoteClient(`https://${NAME}`, KEY);
  t.after(async () => {
    setDefaultCACertificates(trusted);
    Object.assign(process.env, before);
    if (before['HTTPS_PROXY'] === undefined) delete process.env['HTTPS_PROXY'];
    await client.close();
    await proxy[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });
  return { client, proxy, server };
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => new Error('was not rejected'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error, inspect(error));
  return error;
}

const account: RequestListener = (_request, response) => void response.end('{"credits":1}');

test('one tunnel serves one call after the other, and is closed with the client', given, async (t) => {
  const { client, proxy, server } = await behindProxy(t, account);
  const closed = once(server, 'secureConnection').then(([socket]) => once(socket as NodeJS.EventEmitter, 'close'));
  for (let call = 0; call < 3; call += 1) assert.equal((await client.me()).credits, 1);
  assert.deepEqual(proxy.requests, [`CONNECT ${NAME}:443`]);
  await client.close();
  await closed;
});

test('the limit of the connection holds for a proxy that does not answer, and gives it up', given, async (t) => {
  const { client, proxy } = await behindProxy(t, account, { isSilent: true });
  const error = await rejection(client.me({ timeout: { connect: 0.3 } }));
  assert.ok(error instanceof NetworkError, inspect(error));
  assert.match(error.message, new RegExp(`no connection within 0.3 s through the proxy ${proxy.address}`));
  await proxy.untilIdle();
});

test('an abort gives up a tunnel that is being made', given, async (t) => {
  const { client, proxy } = await behindProxy(t, account, { isSilent: true });
  const stop = new AbortController();
  const asked = rejection(client.me({ signal: stop.signal }));
  await proxy.untilAsked();
  const reason = new Error('enough');
  stop.abort(reason);
  assert.equal(await asked, reason);
  await proxy.untilIdle();
});

test('silence behind the proxy times out as it does without one', given, async (t) => {
  const { client, proxy } = await behindProxy(t, () => {});
  const error = await rejection(client.me({ timeout: { connect: 10, read: 0.3 } }));
  assert.ok(error instanceof NetworkError, inspect(error));
  assert.match(error.message, /no data for 0\.3 s$/);
  await proxy.untilIdle();
});

test('requests to models give up a proxy that does not answer, and name it', given, async (t) => {
  const { proxy } = await behindProxy(t, account, { isSilent: true });
  const error = await rejection(createNetworkFetch({ connectMs: 300 })(`https://${NAME}/v1`));
  assert.match(
    error.message,
    new RegExp(`${NAME} was not reached: no connection within 0.3 s through the proxy ${proxy.address}`),
  );
  await proxy.untilIdle();
});

test('the limit of a connection is not that of an answer, nor of a signal', given, async (t) => {
  const answers: (() => void)[] = [];
  const { client } = await behindProxy(t, (_request, response) => void answers.push(() => response.end('late')));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fetchIt = createNetworkFetch();
  const stop = new AbortController();
  const stopped = rejection(fetchIt(`${client.host}/stopped`, { signal: stop.signal }));
  const late = fetchIt(`${client.host}/late`);
  while (answers.length < 2) await new Promise(setImmediate);
  stop.abort();
  assert.equal((await stopped).name, 'AbortError');
  t.mock.timers.tick(60_000); // longer than the connection may take
  for (const answer of answers) answer();
  assert.equal(await (await late).text(), 'late');
});
