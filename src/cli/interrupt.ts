import type { Disposable } from '../core/lifetime.ts';
import { EXIT } from './exit.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Interrupt extends Disposable {
  readonly signal: AbortSignal;
}

/** Ctrl+C once aborts the signal, so that work ends cleanly; the second time the process ends at once. */
export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
