import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder with the job ledger, the event spools and the embedded service's data.
 *
 * `FARWHARF_HOME` if set; otherwise the platform's data folder (XDG base directory specification, `%LOCALAPPDATA%` on Windows).
 *
 * @param platform for tests; this system by default.
 */
export function farwharfHome(env: NodeJS.ProcessEnv = process.env, platform: string = process.platform): string {
  if (env['FARWHARF_HOME']) return env['FARWHARF_HOME'];
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'farwharf');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'farwharf');
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'farwharf');
}
