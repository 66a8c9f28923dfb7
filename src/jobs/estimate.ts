import type { JobRecord } from './record.ts';

export interface Rate {
  readonly machineClass: string | null;
  readonly creditsPerMinute: number;
  readonly description: string | null;
}

export type CostEstimate =
  | {
      readonly type: 'known';
      readonly creditsPerMinute: number;
      /** If the job runs to its time limit. */
      readonly highest: number;
      /** Credits left now; null where the account does not tell. */
      readonly balance: number | null;
    }
  | { readonly type: 'unknown'; readonly reason: string; readonly balance: number | null };

/** The rate card of a `/v1/me` reply, in whichever of the likely shapes; empty when none is recognised. */
export function readRateCard(_account: unknown): Rate[] {
  throw new Error('not built yet');
}

/** Credits left, from a `/v1/me` reply; null when it does not tell. */
export function readBalance(_account: unknown): number | null {
  throw new Error('not built yet');
}

/** The highest cost of a job: its time limit (seconds) at the rate of its machine class. */
export function estimateCost(_account: unknown, _job: { machineClass?: string; maxRuntime: number }): CostEstimate {
  throw new Error('not built yet');
}

/** `At most 6 credits of 312.`, or why that is not known. */
export function describeEstimate(_estimate: CostEstimate): string {
  throw new Error('not built yet');
}

/** Credits charged, or, while it runs, about what it has cost so far; null where the rate is unknown. `now` in milliseconds. */
export function costSoFar(_record: JobRecord, _now: number): number | null {
  throw new Error('not built yet');
}

/** `about 1.2 of at most 6 credits`: what a running job has cost and may cost; null where the rate is unknown. */
export function describeForecast(_record: JobRecord, _now: number): string | null {
  throw new Error('not built yet');
}
