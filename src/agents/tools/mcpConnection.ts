import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { AppError, messageOf } from '../../core/errors.ts';
import type { McpServer, McpTools } from './mcpServer.ts';
import type { Tool } from './tool.ts';

const CONNECT_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 600_000;
// A server decides on the size of all of these, and the model pays for it.
const MAX_TOOLS = 500;
const MAX_DESCRIPTION = 4_000;
const MAX_RESULT = 1_000_000;

/** Connects to a server and lists its tools. Only this module imports the SDK of MCP. */
export async function connectMcp(server: McpServer): Promise<McpTools> {
  const client = new Client({ name: 'farwharf', version: '1' });
  try {
    const options = { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS), timeout: CONNECT_TIMEOUT_MS };
    await client.connect(transportTo(server), options);
    return { tools: await toolsOf(client, options), [Symbol.asyncDispose]: () => client.close() };
  } catch (cause) {
    await client.close();
    const name = 'command' in server ? server.command : server.url;
    const message = `The MCP server ${name} could not be used: ${messageOf(cause)}. Check the command or the address.`;
    throw new AppError('unreachable', message, { cause });
  }
}

function transportTo(server: McpServer): StdioClientTransport | StreamableHTTPClientTransport {
  if ('command' in server) {
    const { command, args = [], env, cwd } = server;
    return new StdioClientTransport({ command, args: [...args], ...(env && { env: { ...env } }), ...(cwd && { cwd }) });
  }
  const { url, headers } = server;
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { ...(headers && { headers }), redirect: 'error' },
  });
}

async function toolsOf(client: Client, options: { signal: AbortSignal; timeout: number }): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools({ ...(cursor !== undefined && { cursor }) }, options);
    for (const { name, description = '', inputSchema } of page.tools) {
      if (tools.length >= MAX_TOOLS) throw new AppError('limit', `it has more than ${MAX_TOOLS} tools`);
      tools.push({
        name: name.replaceAll(/[^\w-]/g, '_').slice(0, 64), // services of models refuse other names
        description: description.slice(0, MAX_DESCRIPTION),
        parameters: async () => inputSchema,
        // The server checks the arguments itself.
        prepare: async (args) => ({ ok: true, input: args, run: ({ signal }) => call(client, name, args, signal) }),
      });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** @throws Error with the text of a result that the server marks as an error. */
async function call(client: Client, name: string, args: unknown, signal: AbortSignal): Promise<string> {
  const input = typeof args === 'object' && args !== null ? { ...args } : {};
  const { content, isError } = await client.callTool({ name, arguments: input }, undefined, {
    signal,
    timeout: CALL_TIMEOUT_MS,
  });
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const text = parts.map(textOf).join('\n');
  if (text.length > MAX_RESULT)
    throw new AppError('limit', `The result of ${name} is longer than ${MAX_RESULT} characters.`);
  if (isError === true) throw new Error(text || `${name} failed`);
  return text;
}

function textOf(part: unknown): string {
  if (typeof part !== 'object' || part === null) return '';
  if ('text' in part && typeof part.text === 'string') return part.text;
  if ('resource' in part) return textOf(part.resource);
  return `(${'type' in part ? String(part.type) : 'unknown'} content, which is not shown)`;
}
