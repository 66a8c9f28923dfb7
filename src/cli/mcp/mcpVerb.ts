import { defineVerb } from '../command/verb.ts';
import { textFlagOr } from '../command/flags.ts';

export const mcpVerb = defineVerb({
  name: 'mcp',
  summary: 'serve tools for coding agents over MCP on standard input and output',
  flags: { folder: textFlagOr('--folder <dir>', 'the only folder that the tools read, send and write', '.') },
  isService: true,
  examples: [
    ['farwharf mcp', 'serve tools for the current folder; put this command in the MCP settings of an agent'],
    ['farwharf mcp --folder project --remote https://gpu.example.org', 'serve another folder, with jobs on a service'],
  ],
  load: async () => (await import('./mcp.ts')).serveMcp,
});
