import { checkOptions } from '../schema/optionShape.ts';
import type { McpServer, McpTools } from './mcpServer.ts';

/**
 * Connects to an MCP server and returns its tools, for `runTools`. The official SDK is loaded with the first call.
 *
 * @throws AppError `unreachable` if the program cannot be started, the server does not respond, or does not speak MCP; TypeError for
 * an option of the wrong type.
 */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  checkOptions('mcpTools', server, {
    command: 'string',
    args: 'list',
    url: 'string',
    headers: 'object',
    env: 'object',
    cwd: 'string',
  });
  if (!('command' in server) && !('url' in server)) throw new TypeError('mcpTools needs a command or a url.');
  const { connectMcp } = await import('./mcpConnection.ts');
  return connectMcp(server);
}
