import type { Isolation } from './isolation.ts';

/**
 * Why no job may start; undefined where jobs may. Jobs that nothing isolates reach each other's files and the service's own: with
 * one account they are whoever runs the service, with more they may be anybody, so a person must have meant it.
 *
 * @param countAccounts how many accounts are enabled.
 */
export function unisolatedRefusal(isolation: Isolation, countAccounts: () => number): string | undefined {
  if (isolation.type !== 'none' || isolation.isChosen || countAccounts() < 2) return undefined;
  const why = isolation.why.replace(/\.$/, '');
  return `No job starts: the service has more than one account, and jobs are not isolated from each other and from the service (${why}). Make bubblewrap work on the machine that runs jobs, then restart the service; or let all accounts reach what the service's user can, with isolation = "none" in [process] of its configuration.`;
}
