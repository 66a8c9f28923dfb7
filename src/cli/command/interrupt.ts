import { constants } from 'node:os';
import type { Disposable } from '../../core/processes/lifetime.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupt extends Disposable {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** The exit status after a signal: 128 plus its number, as in shells. Undefined before the first one. */
  readonly exit: number | undefined;
  /** Calls the listener at each SIGHUP until disposed, instead of stopping. For services, which reload. */
  readonly onHangup: (listener: () => void) => Disposable;
}

/** The first Ctrl+C aborts the signal, so that work ends cleanly; the second stops the process immediately. */
export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  let exit: number | undefined;
  let hangup: (() => void) | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    if (name === 'SIGHUP' && hangup !== undefined) {
      hangup();
      return;
    }
    // A terminal that closes may send SIGHUP twice, from the shell and from the system, so it never stops the process immediately.
    if (controller.signal.aborted && name !== 'SIGHUP') process.exit(exitAfter(name));
    exit ??= exitAfter(name);
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    get exit() {
      return exit;
    },
    onHangup: (listener) => {
      hangup = listener;
      return { dispose: () => (hangup = undefined) };
    },
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

function exitAfter(name: NodeJS.Signals): number {
  return 128 + constants.signals[name];
}
