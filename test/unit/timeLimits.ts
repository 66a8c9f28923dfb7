/** How long a test waits for what must happen. It guards against a hang only: a busy machine takes very long for everything. */
export const GUARD_MS = 5 * 60_000;

/**
 * Runs a check that must pass for any limit, in milliseconds, with everything else in proportion to it. A busy machine can hold
 * up the test itself for longer than a short limit lasts; then the check runs again with one four times as long.
 *
 * @throws what the check threw, once the limit is half a minute.
 */
export async function withGrowingLimit(firstMs: number, check: (limitMs: number) => Promise<void>): Promise<void> {
  for (let limitMs = firstMs; ; limitMs *= 4) {
    try {
      return await check(limitMs);
    } catch (error) {
      if (limitMs > 30_000) throw error;
    }
  }
}

/**
 * Options of an HTTP server of a test, which keeps unused connections. A busy machine takes longer between two requests than a server
 * usually keeps one, and would send the second on a connection that is just being closed.
 */
export const KEEPS_CONNECTIONS = { keepAliveTimeout: 0 };
