import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemCode } from '../../../src/core/errors.ts';
import type { Scratch } from '../commandLine.ts';
import { built } from './built.ts';

const DEADLINE_MS = 90_000;
const QUOTED_MAIN = [process.execPath, built('cli.mjs')].map((part) => `'${part}'`).join(' ');
// The status goes to descriptor 3, so that a line may redirect and pipe everything else.
const FUNCTION = `farwharf() { ${QUOTED_MAIN} "$@" 3>&-; echo $? >&3; }`;

export interface LineEnd {
  /** The exit status of each `farwharf` in the line, in the order in which they ended. */
  readonly statuses: readonly number[];
  readonly stdout: string;
  readonly stderr: string;
}

interface LineOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Called with what stdout has so far, each time it grows. */
  readonly onOutput?: (stdout: string) => void;
}

/** Runs a line of the shell, in which `farwharf` is the command under test, in the scratch folder. */
export async function runLine(
  scratch: Scratch,
  line: string,
  { env = {}, onOutput }: LineOptions = {},
): Promise<LineEnd> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:FARWHARF_|NODE_TEST|NODE_OPTIONS$|CI$|NO_COLOR$|FORCE_COLOR$)/.test(name),
  );
  const shell = spawn('sh', ['-c', `${FUNCTION}\n${line}`], {
    cwd: scratch.root,
    env: { ...Object.fromEntries(inherited), FARWHARF_HOME: scratch.home, SHELL: '/bin/sh', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const printed = ['', '', ''];
  for (const [index, stream] of shell.stdio.slice(1, 4).entries()) {
    stream?.on('data', (bytes: Buffer) => {
      printed[index] += bytes.toString('utf8');
      if (index === 0) onOutput?.(printed[0] ?? '');
    });
  }
  const deadline = setTimeout(() => endGroup(shell), DEADLINE_MS);
  try {
    await once(shell, 'close');
  } finally {
    clearTimeout(deadline);
  }
  const [stdout = '', stderr = '', statuses = ''] = printed;
  return { statuses: statuses.split('\n').filter(Boolean).map(Number), stdout, stderr };
}

/** Why no command can be run in a terminal of its own here; undefined where `script` of util-linux can do it. */
export function whyNoTerminal(): string | undefined {
  try {
    if (execFileSync('script', ['--version'], { encoding: 'utf8', stdio: 'pipe' }).includes('util-linux'))
      return undefined;
  } catch {
    // It is not there, or it is another system's.
  }
  return 'NOT TESTED: this machine has no `script` of util-linux (Debian: apt-get install bsdutils)';
}

/** What a line of the shell prints in a terminal with so many columns. @param options.input what the person types. */
export async function runInTerminal(
  scratch: Scratch,
  line: string,
  {
    columns,
    env = {},
    input,
  }: { readonly columns: number; readonly env?: Readonly<Record<string, string>>; readonly input?: string },
): Promise<LineEnd> {
  const inner = `stty cols ${columns} rows 24; exec 3>'${scratch.root}/status'; ${FUNCTION}; ${line}`;
  const typed = input === undefined ? '' : `printf %s ${quote(input)} | `;
  const script = `${typed}script -qec ${quote(inner)} /dev/null; cat '${scratch.root}/status' >&3`;
  return runLine(scratch, script, { env: { TERM: 'xterm-256color', ...env } });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}
