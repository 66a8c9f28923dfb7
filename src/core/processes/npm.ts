import { spawn } from 'node:child_process';
import { systemCode } from '../errors.ts';

const OUTPUT_END = 4_000;

export interface NpmOptions {
  /** Its `.npmrc` files count, so it must not be a folder that others chose. */
  readonly cwd: string;
  /** Names proxies and registries. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

/** How npm ended; `missing` if it is not installed. */
export type NpmOutcome = { readonly type: 'done' | 'failed'; readonly output: string } | { readonly type: 'missing' };

/**
 * Runs the user's npm, with their registry, proxy and certificates. It runs no script of a package.
 *
 * @returns the end of what npm printed, 4,000 characters at most.
 * @throws the signal's reason on abort.
 */
export async function runNpm(args: readonly string[], { cwd, env, signal }: NpmOptions): Promise<NpmOutcome> {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1'];
  // On Windows npm is a script, which needs a shell; no argument comes from outside.
  const shell = process.platform === 'win32';
  const child = spawn('npm', [...args, ...quiet], { cwd, env, shell, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const collect = (part: Buffer): void => void (output = (output + part.toString()).slice(-OUTPUT_END));
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject);
  child.on('close', resolve);
  try {
    return { type: (await promise) === 0 ? 'done' : 'failed', output };
  } catch (error) {
    signal?.throwIfAborted();
    if (systemCode(error) === 'ENOENT') return { type: 'missing' };
    throw error;
  }
}

/** The first informative line of what npm printed, without a full stop. */
export function npmReason(output: string): string {
  const lines = output.split('\n').map((line) => line.replace(/^npm (?:error|ERR!) ?/, '').trim());
  return (
    lines
      .filter((line) => line !== '' && !/complete log|^(?:code|errno|syscall|path|command|cwd) /i.test(line))[0]
      ?.replace(/\.$/, '') ?? 'no reason given'
  );
}
