import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type EndReport, endVariables } from './endReport.ts';

const ERROR_LIMIT = 500;
const LAST_WORDS_MS = 1_000;

interface ProgramOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly report: EndReport;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Runs a program with the report in its environment and on its standard input. @throws Error if it fails or does not end in time. */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  { env, report, signal, timeoutMs }: ProgramOptions,
): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs);
  // The program does not need Farwharf's key, so it does not get it.
  const { FARWHARF_API_KEY: _, ...own } = env;
  const child = spawn(program, args, {
    env: { ...own, ...endVariables(report) },
    stdio: ['pipe', 'ignore', 'pipe'],
    shell: false,
    windowsHide: true,
    signal: AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-ERROR_LIMIT);
  });
  child.stdin.on('error', () => {}); // a program may not read it
  child.stdin.end(`${JSON.stringify(report)}\n`);
  try {
    await once(child, 'exit');
    // The last output of a program can arrive after its end. A process that it left behind keeps the pipe open.
    await once(child.stderr, 'close', { signal: AbortSignal.timeout(LAST_WORDS_MS) }).catch(() => {});
    const { exitCode: status, signalCode } = child;
    if (status !== 0) throw new Error(`It ended with ${status === null ? signalCode : `status ${status}`}.`);
  } catch (error) {
    signal.throwIfAborted();
    const why = timeout.aborted
      ? `It was stopped, because it did not end within ${timeoutMs / 1000} s.`
      : messageOf(error);
    const last = printableLine(errors).trim();
    throw new Error(`${program}: ${why}${last === '' ? '' : ` ${last}`}`, { cause: error });
  } finally {
    child.stderr.destroy();
  }
}
