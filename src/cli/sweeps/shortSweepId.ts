import type { Sweep } from '../../jobs/sweeps/sweep.ts';

const SHORT_ID = 8;

/** The ID that people type. */
export function shortSweepId({ id }: Pick<Sweep, 'id'>): string {
  return id.slice(0, SHORT_ID);
}
