import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AppError, messageOf } from '../../core/errors.ts';

const PASSED_VARIABLES = new Set(['PATH', 'PATHEXT', 'SYSTEMROOT', 'TMPDIR', 'TEMP', 'TMP']);
// A list of a million files takes seconds; a git that answers nothing for this long hangs.
const TIMEOUT_MS = 120_000;
const MOST_STDERR = 64 * 1024;

// Git sees no configuration but what `PrivateGitFolder` writes, so that nothing is left that could name a program. These forbid it
// once more, each by its own means: `GIT_NO_LAZY_FETCH` came with git 2.45, and for older ones no protocol may be spoken.
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
  /** What git said on stderr, in English. */
  readonly warnings: string;
}

export interface GitOptions {
  /** Where git starts: a folder of our own, because Windows looks for programs in that folder first. */
  readonly cwd: string;
  /** Beside those that forbid; one that is undefined is left out. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly input?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs git and splits its `-z` output; undefined where git is not installed or fails. The only place that starts git, and only for
 * `PrivateGitFolder`.
 *
 * @throws the signal's reason, or AppError `limit` when git does not end.
 */
export async function runGit(
  argv: readonly string[],
  { cwd, variables, input, signal }: GitOptions,
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
    return status === 0 || (status === 1 && argv.includes('check-ignore')) ? { items, warnings } : undefined;
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

function passedVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_VARIABLES.has(name.toUpperCase())));
}
