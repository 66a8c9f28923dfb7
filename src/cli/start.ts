import { constants } from 'node:os';
import { inspect } from 'node:util';
import { keepNewObjectSpace } from '../core/processes/newObjectSpace.ts';
import { printableLine, printableText } from '../core/text/printable.ts';
import { AppError, messageOf } from '../core/errors.ts';
import { Redactor } from '../core/redact.ts';
import { describeFailure } from './command/exit.ts';
import type { Interrupt } from './command/commandContext.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs the command line of this process. @param entry the path of the program. */
export async function start(entry: string): Promise<void> {
  endOnUncaughtErrors(process.env);
  hideExperiments();
  keepNewObjectSpace();
  const { runProgram } = await import('./commandLine.ts');
  process.exitCode = await runProgram(process.argv.slice(2), {
    entry,
    env: process.env,
    cwd: process.cwd(),
    stdio: process,
    interrupt: listenForInterrupt(),
  });
}

/** Hides the warning that node:sqlite is experimental, which is of no use to users. */
function hideExperiments(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') process.stderr.write(`${printableLine(`${name}: ${message}`)}\n`);
  });
}

/**
 * Stops the process on an uncaught error, with one line. Node.js itself would print the source line, which in the bundled program has
 * many kilobytes.
 */
function endOnUncaughtErrors(env: NodeJS.ProcessEnv): void {
  // Also called for unhandled rejections.
  process.on('uncaughtException', (error) => {
    const redactor = new Redactor();
    redactor.add(env['FARWHARF_API_KEY'] ?? '');
    process.stderr.write(redactor.redact(`${describeUncaught(error)}\n`));
    if (env['FARWHARF_DEBUG']) process.stderr.write(redactor.redact(`${printableText(inspect(error))}\n`));
    process.exit(describeFailure(error).exit);
  });
}

function describeUncaught(error: unknown): string {
  const message = printableLine(messageOf(error)).replaceAll(/\s+/g, ' ').trim();
  if (error instanceof AppError) return `farwharf: ${message}`;
  return `farwharf: Unexpected error: ${message.replace(/\.$/, '')}. Set FARWHARF_DEBUG=1 to see where it happened.`;
}

/** The first Ctrl+C aborts the signal, so that work ends cleanly; the second stops the process immediately. */
function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  let exit: number | undefined;
  let hangup: (() => void) | undefined;
  let passOn: ((name: 'SIGINT' | 'SIGTERM') => void) | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    if (name === 'SIGHUP' && hangup !== undefined) {
      hangup();
      return;
    }
    if ((name === 'SIGINT' || name === 'SIGTERM') && passOn !== undefined) {
      passOn(name);
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
    onSignal: (listener) => {
      passOn = listener;
      return { dispose: () => (passOn = undefined) };
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
