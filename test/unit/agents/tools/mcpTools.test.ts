import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { LLMClient, mcpTools, type McpServer } from '../../../../src/agents/index.ts';
import { chatServer, reply } from '../llm/llmServer.ts';
import { GUARD_MS } from '../../timeLimits.ts';
import { createMcpServer } from './mcpServer.ts';

const PROGRAM = { command: process.execPath, args: [join(import.meta.dirname, 'mcpServer.ts')] };

async function httpServer(t: TestContext): Promise<McpServer> {
  const server = createServer((request, response) => {
    const mcp = createMcpServer();
    const transport = new StreamableHTTPServerTransport({});
    void mcp
      .connect(transport as Parameters<typeof mcp.connect>[0])
      .then(() => transport.handleRequest(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
}

const kinds = { program: async () => PROGRAM, address: httpServer };

for (const [kind, start] of Object.entries(kinds)) {
  test(`a model can call the tools of an MCP server by its ${kind}`, { timeout: GUARD_MS }, async (t) => {
    await using server = await mcpTools(await start(t));
    assert.deepEqual(
      server.tools.map(({ name }) => name),
      ['depth_of', 'hang', 'key'],
    );
    const calls = [{ harbour: 'Oslo' }, { harbour: 'unknown' }, { harbour: 7 }].map((input, index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name: 'depth_of', arguments: JSON.stringify(input) },
    }));
    const wanted = reply(null, { finish_reason: 'tool_calls', message: { tool_calls: calls } });
    const { baseUrl, requests } = await chatServer(t, wanted, reply('12 m.'));
    const llm = new LLMClient({ baseUrl, model: 'm' });
    const { steps, text } = await llm.runTools([{ role: 'user', content: 'How deep?' }], [...server.tools]);
    assert.equal(text, '12 m.');
    assert.equal(steps[0]?.output, 'Oslo: 12 m');
    assert.match(steps[1]?.error ?? '', /no such harbour/);
    assert.match(steps[2]?.error ?? '', /harbour/);
    const [declared] = (requests[0]?.body.tools ?? []) as { function: { parameters: { required: string[] } } }[];
    assert.deepEqual(declared?.function.parameters.required, ['harbour']);
  });
}

test('a call of an MCP tool ends with its signal, and the program gets no keys', { timeout: GUARD_MS }, async (t) => {
  const before = process.env['OPENAI_API_KEY'];
  process.env['OPENAI_API_KEY'] = 'sk-secret';
  t.after(() => {
    if (before === undefined) delete process.env['OPENAI_API_KEY'];
    else process.env['OPENAI_API_KEY'] = before;
  });
  await using server = await mcpTools(PROGRAM);
  const [, hang, key] = await Promise.all(server.tools.map((each) => each.prepare({})));
  assert.ok(hang?.ok === true && key?.ok === true);
  assert.equal(await key.run({ signal: new AbortController().signal, callId: '1' }), 'no key');
  const stop = new AbortController();
  const call = Promise.resolve(hang.run({ signal: stop.signal, callId: '1' }));
  stop.abort(new Error('stop'));
  await assert.rejects(call);
});

test('a server that does not start, respond or exist is an error with its name', { timeout: GUARD_MS }, async (t) => {
  await assert.rejects(mcpTools({ command: 'no-such-program' }), {
    code: 'unreachable',
    message: /no-such-program could not be used/,
  });
  await assert.rejects(mcpTools({ command: process.execPath, args: ['-e', ''] }), { code: 'unreachable' });
  const { baseUrl } = await chatServer(t, reply('not MCP'));
  await assert.rejects(mcpTools({ url: baseUrl }), { code: 'unreachable', message: /could not be used/ });
  await assert.rejects(mcpTools({} as McpServer), { name: 'TypeError', message: /command or a url/ });
  await assert.rejects(mcpTools({ command: 'x', args: 'y' } as never), {
    message: /args of mcpTools must be an array of strings/,
  });
});
