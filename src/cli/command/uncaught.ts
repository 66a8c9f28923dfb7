import { inspect } from 'node:util';
import { AppError, messageOf } from '../../core/errors.ts';
import { Redactor } from '../../core/redact.ts';
import { printableLine, printableText } from '../../core/text/printable.ts';
import { describeFailure } from './exit.ts';

/**
 * Stops the process on an uncaught error, with one line. Node.js itself would print the source line, which in the bundled program has
 * many kilobytes.
 */
export function endOnUncaughtErrors(env: NodeJS.ProcessEnv): void {
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
