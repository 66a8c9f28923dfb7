import * as z from 'zod';
import { isLoopback } from '../../core/network/loopback.ts';
import type { JobRecord } from '../ledger/record.ts';
import { endReport } from './endReport.ts';
import { runProgram } from './runProgram.ts';

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
export type EndHook = Readonly<z.output<typeof endHook>>;

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
