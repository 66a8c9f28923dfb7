import { exec, execFile } from 'node:child_process';
import { promisify } from 'node:util';

const COMMAND = ['gcloud', 'auth', 'print-access-token'];
const TIMEOUT_MS = 20_000;
// Otherwise cmd.exe prefers a `gcloud.cmd` in the working folder to that of the path.
const ONLY_PATH = { NoDefaultCurrentDirectoryInExePath: '1' };

/** An access token for Google Cloud from the gcloud program, valid for up to an hour; undefined if it is not installed or not signed in. */
export async function googleToken(): Promise<string | undefined> {
  try {
    const [program = '', ...args] = COMMAND;
    // On Windows it is a batch file, which only a shell runs; and Node warns of arguments beside a shell.
    const { stdout } =
      process.platform === 'win32'
        ? await promisify(exec)(COMMAND.join(' '), { timeout: TIMEOUT_MS, env: { ...process.env, ...ONLY_PATH } })
        : await promisify(execFile)(program, args, { timeout: TIMEOUT_MS });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
