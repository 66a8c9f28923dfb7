// A real MCP server of the official SDK. As a program it speaks on standard input and output.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';

export function createMcpServer(): McpServer {
  const server = new McpServer({ name: 'harbour', version: '1.0.0' });
  server.registerTool(
    'depth.of',
    { description: 'The depth of a harbour.', inputSchema: { harbour: z.string() } },
    async ({ harbour }) => {
      if (harbour === 'unknown') return { isError: true, content: [{ type: 'text', text: 'no such harbour' }] };
      return { content: [{ type: 'text', text: `${harbour}: 12 m` }] };
    },
  );
  server.registerTool('hang', { description: 'Never ends.', inputSchema: {} }, () => new Promise(() => {}));
  server.registerTool('key', { description: 'Shows a variable.', inputSchema: {} }, async () => ({
    content: [{ type: 'text', text: process.env['OPENAI_API_KEY'] ?? 'no key' }],
  }));
  return server;
}

if (import.meta.main) await createMcpServer().connect(new StdioServerTransport());
