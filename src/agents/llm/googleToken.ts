import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const TIMEOUT_MS = 20_000;

/** An access token for Google Cloud from the gcloud program, valid for up to an hour; undefined if it is not installed or not signed in. */
export async function googleToken(): Promise<string | undefined> {
  try {
    const shell = process.platform === 'win32'; // where it is a batch file
    const { stdout } = await promisify(execFile)('gcloud', ['auth', 'print-access-token'], {
      timeout: TIMEOUT_MS,
      shell,
    });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
