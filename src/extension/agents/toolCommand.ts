import { LOCAL_HOST } from '../../jobs/service/host.ts';
import type { ToolCommand } from './toolProcess.ts';

/** The settings and keys with which the tools for a folder are started. */
interface ToolSources {
  /** The selected service. */
  readonly host: string;
  /** Reads the user's key for a host. */
  readonly keys: { get(host: string): Promise<string | undefined> };
  readonly home: string;
  /** The built command line. */
  readonly program: string;
}

/** The command that serves the tools for a folder, with the selected service and the key for it in its environment. */
export async function toolCommand(folder: string, { host, keys, home, program }: ToolSources): Promise<ToolCommand> {
  return {
    command: process.execPath,
    args: [program, '--remote', host, 'mcp', '--folder', folder],
    env: {
      ...process.env,
      FARWHARF_HOME: home,
      // A key is sent only to the service that the environment names.
      FARWHARF_REMOTE_HOST: host,
      FARWHARF_API_KEY: host === LOCAL_HOST ? undefined : await keys.get(host),
      // On a desktop the extension host is Electron's Node.js; elsewhere the variable has no effect.
      ELECTRON_RUN_AS_NODE: '1',
    },
  };
}
