import type * as vscode from 'vscode';
import { isAbort } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { type Disposable, DisposableStore } from '../../core/processes/lifetime.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { Worker } from '../threads/worker.ts';
import type { ContextKeys } from './contexts.ts';

/** The parts of features while the window is open. Each starts on its own, so that one failure leaves the others working. */
export class Parts implements Disposable {
  readonly #log: Logger;
  readonly #disposables = new DisposableStore();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Disposes it when the window closes. */
  add<T extends Disposable>(part: T): T {
    return this.#disposables.add(part);
  }

  /** Creates a part that others can do without. A failure is logged. */
  setUp(name: string, create: () => Disposable | void): void {
    const started = performance.now();
    try {
      const part = create();
      if (part !== undefined) this.add(part);
      this.#log.debug('feature ready', { name, ms: Math.round(performance.now() - started) });
    } catch (error) {
      this.#log.error('feature failed', { name, error });
    }
  }

  /** Logs the failure of work in the background. */
  run(name: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!isAbort(error)) this.#log.error('background work failed', { name, error });
    });
  }

  /** Creates a part when it is first asked for. */
  onFirstUse<T extends Disposable>(create: () => T): () => T {
    let created: T | undefined;
    return () => (created ??= this.add(create()));
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

/** What belongs to the window. A feature names what it uses of it. */
export interface WindowParts {
  readonly context: vscode.ExtensionContext;
  readonly contexts: ContextKeys;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly ledger: AsyncLedger;
  readonly log: Logger;
  readonly parts: Parts;
  /** Reports a failure to the user, once. */
  readonly report: (error: unknown) => void;
  /** Aborts when the window closes. */
  readonly signal: AbortSignal;
  /** Whether this window submitted the job. */
  readonly wasSubmittedHere: (id: string) => boolean;
  readonly worker: Worker;
}
