import type { JobLedger } from './ledger.ts';

type LedgerMethod = Exclude<
  { [Name in keyof JobLedger]: JobLedger[Name] extends (...input: never[]) => unknown ? Name : never }[keyof JobLedger],
  'dispose'
>;

/** The ledger as others see it when it lives in a worker thread: the same calls, each a promise; arguments and results are plain data. */
export type AsyncLedger = {
  readonly [Name in LedgerMethod]: (...input: Parameters<JobLedger[Name]>) => Promise<ReturnType<JobLedger[Name]>>;
};

/** The ledger of this very thread behind the asynchronous interface. */
export function directLedger(_ledger: JobLedger): AsyncLedger {
  throw new Error('not built yet');
}

/** Yields the ledger's revision at the start and after each change by any process. Ends with the signal, without throwing. */
export function ledgerChanges(
  _ledger: Pick<AsyncLedger, 'revision'>,
  _options: { signal: AbortSignal; intervalMs?: number },
): AsyncGenerator<number, void> {
  throw new Error('not built yet');
}
