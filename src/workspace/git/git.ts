import { spawn } from 'node:child_process';
import { AppError, messageOf } from '../../core/errors.ts';

const PASSED_VARIABLES = new Set(['PATH', 'PATHEXT', 'SYSTEMROOT', 'TMPDIR', 'TEMP', 'TMP']);
// Listing a million files takes seconds; after this time git hangs.
const TIMEOUT_MS = 120_000;
const MOST_STDERR = 64 * 1024;
// Of one item that is not collected. Paths are far shorter; a commit's message can have any length.
const MOST_ITEM_BYTES = 64 * 1024;

// Git only sees the configuration that `PrivateGitFolder` writes, so that nothing can name a program to run. These variables forbid it
// again, independently: `GIT_NO_LAZY_FETCH` exists since git 2.45, and for older versions all protocols are disabled.
const FORBIDDING_VARIABLES: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_PROTOCOL_FROM_USER: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_TRACE: '0',
  GIT_TRACE2: '0',
  GIT_TRACE2_EVENT: '0',
  GIT_TRACE2_PERF: '0',
  GIT_PAGER: 'cat',
  GIT_EDITOR: ':',
  LC_ALL: 'C',
};
const FORBIDDING_CONFIGURATION = [
  '--no-pager',
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.untrackedCache=false', 'protocol.allow=never'].flatMap(
    (setting) => ['-c', setting],
  ),
];

export interface GitAnswer {
  /** What git printed, split at NUL. */
  readonly items: readonly string[];
  /** Whether the last byte was a NUL, as at the end of each item of `-z` output. */
  readonly endsWithNul: boolean;
  /** What git wrote to stderr, in English. */
  readonly warnings: string;
}

export interface GitOptions {
  /** The working folder: one of our own, because Windows searches it for programs first. */
  readonly cwd: string;
  /** Variables in addition to the forbidding ones; undefined ones are removed. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly input?: readonly string[] | undefined;
  /** Gets the first 64 KB of each item while git runs, instead of all items in the answer: for output of any size. */
  readonly onItem?: ((item: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs git and splits its `-z` output; undefined if git is not installed or fails. The only place that starts git, for `PrivateGitFolder`
 * only.
 *
 * @throws the signal's reason, or AppError `limit` if git does not finish.
 */
export async function runGit(
  argv: readonly string[],
  { cwd, variables, input, onItem, signal }: GitOptions,
): Promise<GitAnswer | undefined> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const child = spawn('git', [...FORBIDDING_CONFIGURATION, ...argv], {
    cwd,
    env: { ...passedVariables(), ...FORBIDDING_VARIABLES, ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  child.stdin.on('error', () => {}); // git may exit before it has read everything
  child.stdin.end(input === undefined ? undefined : `${input.join('\0')}\0`);
  let warnings = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (warnings.length < MOST_STDERR) warnings += text;
  });
  const closed = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  closed.catch(() => {}); // awaited below, after the output
  try {
    const items: string[] = [];
    const endsWithNul =
      onItem === undefined
        ? await splitItems(child.stdout, (item) => items.push(item), Infinity)
        : await splitItems(child.stdout, onItem, MOST_ITEM_BYTES);
    const status = await closed;
    // `check-ignore` exits with 1 if nothing is ignored.
    return status === 0 || (status === 1 && argv.includes('check-ignore'))
      ? { items, endsWithNul, warnings }
      : undefined;
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) {
      throw new AppError(
        'limit',
        'git did not respond, so the files were not listed. Check that `git status` works in this folder.',
        {
          cause: error,
        },
      );
    }
    if (messageOf(error).includes('ENOENT')) return undefined;
    throw error;
  }
}

/** Passes on the items of a stream, each up to `most` bytes of it. Returns whether the stream ended with a NUL. */
async function splitItems(
  stream: AsyncIterable<Buffer>,
  onItem: (item: string) => void,
  most: number,
): Promise<boolean> {
  let rest: Buffer = Buffer.alloc(0);
  let last: number | undefined;
  for await (const chunk of stream) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    last = chunk.at(-1);
    let start = 0;
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
      onItem(bytes.toString('utf8', start, Math.min(end, start + most)));
      start = end + 1;
    }
    rest = bytes.subarray(start, start + most);
  }
  if (rest.length > 0) onItem(rest.toString());
  return last === 0;
}

function passedVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_VARIABLES.has(name.toUpperCase())));
}
