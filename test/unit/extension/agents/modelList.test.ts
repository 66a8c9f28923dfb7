import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { resolveEndpoint } from '../../../../src/agents/llm/providers.ts';
import { listModels } from '../../../../src/extension/agents/modelList.ts';

/** A server that answers everything with this. */
async function serve(t: TestContext, status: number, body: unknown, headers: Record<string, string> = {}) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

test('the models of a service are listed, and the key goes with the request', async (t) => {
  const { baseUrl, requests } = await serve(t, 200, { data: [{ id: 'a' }, { id: 'b', owned_by: 'x' }] });
  assert.deepEqual(await listModels(resolveEndpoint({ baseUrl }), 'the-key'), ['a', 'b']);
  assert.deepEqual([requests[0]?.url, requests[0]?.headers.authorization], ['/v1/models', 'Bearer the-key']);
});

test('a refused key, a page in place of a list and a closed port are distinguished', async (t) => {
  const answering = async (status: number, body: unknown) => {
    const { baseUrl } = await serve(t, status, body);
    return listModels(resolveEndpoint({ baseUrl }), undefined);
  };
  await assert.rejects(answering(401, {}), { code: 'not-signed-in' });
  await assert.rejects(answering(200, { hello: 1 }), { code: 'unreachable', message: /did not return a list/ });
  const closed = resolveEndpoint({ baseUrl: 'http://127.0.0.1:9/v1' });
  await assert.rejects(listModels(closed, undefined), { code: 'unreachable', message: /does not respond/ });
});

test('a redirect is not followed: it could take the key elsewhere', async (t) => {
  const other = await serve(t, 200, { data: [{ id: 'a' }] });
  const { baseUrl } = await serve(t, 302, {}, { location: `${other.baseUrl}/models` });
  await assert.rejects(listModels(resolveEndpoint({ baseUrl }), 'the-key'), { code: 'unreachable' });
  assert.equal(other.requests.length, 0);
});
