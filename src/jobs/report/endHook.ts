import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';
import { isLoopback } from '../../core/network/loopback.ts';
import type { JobRecord } from '../ledger/record.ts';
import { endReport, type EndReport, endVariables } from './endReport.ts';
import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';

const TIMEOUT_MS = 60_000;

/** What the user wants to happen at the end of a job. */
export const endHook = z.union([
  z.strictObject({
    /** A program and its arguments. No shell reads them. */
    command: z.array(z.string().min(1)).min(1),
  }),
  z.strictObject({
    /** Receives the report as JSON in a POST request. */
    url: z.url().refine(isSecure, 'must be an https URL, or http on this machine, without a user name or password'),
  }),
]);
const ERROR_LIMIT = 500;
const LAST_WORDS_MS = 1_000;
export type EndHook = Readonly<z.output<typeof endHook>>;

interface ProgramOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly report: EndReport;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Notifies a program or a web server of the user that a job has ended. Everything that the job determines is passed as data: to a program
 * in variables named `FARWHARF_…` and as JSON on standard input, to a server as JSON.
 *
 * @throws Error that says what went wrong, after at most a minute; the signal's reason on abort.
 */
export async function runEndHook(
  hook: EndHook,
  record: JobRecord,
  { signal, env, timeoutMs = TIMEOUT_MS }: { signal: AbortSignal; env: NodeJS.ProcessEnv; timeoutMs?: number },
): Promise<void> {
  const report = endReport(record);
  const limits = { signal, timeoutMs };
  if ('command' in hook) await runProgram(hook.command, { ...limits, env, report });
  else await post(hook.url, report, limits);
}

async function post(
  url: string,
  report: object,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(report),
      redirect: 'error',
      signal: AbortSignal.any([signal, timeout]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${new URL(url).host} answered with status ${response.status}.`);
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted)
      throw new Error(`${new URL(url).host} did not respond within ${timeoutMs / 1000} s.`, { cause: error });
    throw error;
  }
}

function isSecure(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

/** Runs a program with the report in its environment and on its standard input. @throws Error if it fails or does not end in time. */
async function runProgram(
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
