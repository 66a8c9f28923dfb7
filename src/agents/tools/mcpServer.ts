import type { Tool } from './tool.ts';

/** A program that speaks MCP on its standard input and output, or the address of a server. */
export type McpServer =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      /** Variables in addition to the few that every program needs, such as PATH; others are not passed on. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly url: string;
      /** Such as `{ Authorization: 'Bearer …' }`. */
      readonly headers?: Readonly<Record<string, string>>;
    };

/** The tools of a server. Disposing it ends the program or the connection. */
export interface McpTools extends AsyncDisposable {
  readonly tools: readonly Tool[];
}
