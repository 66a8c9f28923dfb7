import { runHost } from '../run/runHost.ts';

/**
 * The key for a service: the one that was given, else that of the variable, else what the program that hosts this process has for
 * that variable. Undefined where there is none.
 */
export async function serviceKey(given: string | undefined, variable: string | undefined): Promise<string | undefined> {
  if (given) return given;
  if (variable === undefined) return undefined;
  return process.env[variable] || (await runHost()?.modelKey?.(variable)) || undefined;
}
