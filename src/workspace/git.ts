import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AppError, messageOf } from '../core/errors.ts';

// Nothing that the folder's own configuration names may run: no monitor, no hooks, no pager, no prompts.
const SAFE_CONFIGURATION = [
  '--no-pager',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.untrackedCache=false',
];
const PASSED_VARIABLES = new Set(['PATH', 'HOME', 'USERPROFILE', 'XDG_CONFIG_HOME', 'SYSTEMROOT', 'TMPDIR', 'TEMP']);
// A list of a million files takes seconds; a git that answers nothing for this long hangs.
const TIMEOUT_MS = 120_000;
const MOST_STDERR = 64 * 1024;

export interface GitAnswer {
  /** What git printed, split at NUL. */
  readonly items: readonly string[];
  /** What git said on stderr, in English. */
  readonly warnings: string;
}

/**
 * Runs git in `folder` and splits its `-z` output; gives undefined where git is not installed or answers with a failure
 * (no repository, somebody else's repository).
 *
 * @throws the signal's reason, or AppError `limit` when git does not end.
 */
export async function runGit(
  folder: string,
  argv: readonly string[],
  { input, signal }: { input?: readonly string[]; signal?: AbortSignal } = {},
): Promise<GitAnswer | undefined> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const child = spawn('git', [...SAFE_CONFIGURATION, ...argv], {
    cwd: folder,
    env: safeEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  child.stdin.on('error', () => {}); // git may end without having read all of it
  child.stdin.end(input === undefined ? undefined : `${input.join('\0')}\0`);
  let warnings = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (warnings.length < MOST_STDERR) warnings += text;
  });
  const closed = once(child, 'close');
  closed.catch(() => {}); // awaited below, after the output
  try {
    const items = await splitItems(child.stdout);
    const [status] = (await closed) as [number | null];
    // `check-ignore` answers 1 when nothing is ignored.
    return status === 0 || (status === 1 && argv[0] === 'check-ignore') ? { items, warnings } : undefined;
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) {
      throw new AppError(
        'limit',
        'git did not answer, so the files were not listed. Check that `git status` works in this folder.',
        {
          cause: error,
        },
      );
    }
    if (messageOf(error).includes('ENOENT')) return undefined;
    throw error;
  }
}

async function splitItems(stream: AsyncIterable<Buffer>): Promise<string[]> {
  const items: string[] = [];
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(0);
    if (end === -1) {
      rest = bytes;
      continue;
    }
    for (const item of bytes.toString('utf8', 0, end).split('\0')) items.push(item);
    rest = bytes.subarray(end + 1);
  }
  if (rest.length > 0) items.push(rest.toString());
  return items;
}

function safeEnvironment(): NodeJS.ProcessEnv {
  const passed = Object.entries(process.env).filter(([name]) => PASSED_VARIABLES.has(name.toUpperCase()));
  return { ...Object.fromEntries(passed), LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' };
}
