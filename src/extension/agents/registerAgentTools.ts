import * as vscode from 'vscode';
import { AGENT_TOOL_NAMES } from '../../jobs/agentTools/agentToolNames.ts';
import { MCP_PROVIDER } from '../contributions/names.ts';
import { withSignal } from '../ui/abort.ts';
import { messageText } from '../ui/labels.ts';
import type { AgentTools } from './agentTools.ts';

/**
 * Registers the tools for chat models, and the MCP server that offers the same tools to agents of VS Code. Both are loaded when they are
 * first used.
 */
export function registerAgentTools(load: () => Promise<AgentTools>): vscode.Disposable {
  const tools = AGENT_TOOL_NAMES.map((name) =>
    vscode.lm.registerTool<object>(name, {
      prepareInvocation: async ({ input }, token) => {
        const agentTools = await load();
        const confirmation = await withSignal(token, (signal) => agentTools.confirmation(name, input, signal));
        if (confirmation === undefined) return undefined;
        const title = messageText(confirmation.title);
        return { confirmationMessages: { title, message: messageText(confirmation.message) } };
      },
      invoke: async ({ input }, token) => {
        const agentTools = await load();
        const { text, isError } = await withSignal(token, (signal) => agentTools.call(name, input, signal));
        // The model reads the sentence and can act on it.
        if (isError) throw new Error(text);
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
      },
    }),
  );
  const servers = vscode.lm.registerMcpServerDefinitionProvider(MCP_PROVIDER, {
    provideMcpServerDefinitions: async () => (await load()).serverDefinitions(),
    resolveMcpServerDefinition: async (server) =>
      server instanceof vscode.McpStdioServerDefinition ? (await load()).resolveServer(server) : undefined,
  });
  return vscode.Disposable.from(...tools, servers);
}
