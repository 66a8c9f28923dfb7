import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TIMEOUT_MS = 5_000;

/**
 * The commit that a folder is at; null without git, outside a repository or before the first commit.
 * Call it for trusted folders only: a repository's configuration can name programs for git to run.
 */
export async function readGitCommit(folder: string, options: { signal?: AbortSignal } = {}): Promise<string | null> {
  try {
    const { stdout } = await run('git', ['-c', 'core.fsmonitor=false', 'rev-parse', '--verify', 'HEAD'], {
      cwd: folder,
      timeout: TIMEOUT_MS,
      windowsHide: true,
      env: { ...process.env, FARWHARF_API_KEY: undefined, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
      ...(options.signal !== undefined && { signal: options.signal }),
    });
    return /^[0-9a-f]{40,64}$/.test(stdout.trim()) ? stdout.trim() : null;
  } catch {
    options.signal?.throwIfAborted();
    return null;
  }
}
