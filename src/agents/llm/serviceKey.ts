import { runHost } from '../run/runHost.ts';

/**
 * The key for a service: the explicit one, else that of the variable, else the host program's key for that variable. Undefined
 * if there is none.
 */
export async function serviceKey(given: string | undefined, variable: string | undefined): Promise<string | undefined> {
  if (given) return given;
  if (variable === undefined) return undefined;
  return process.env[variable] || (await runHost()?.modelKey?.(variable)) || undefined;
}
