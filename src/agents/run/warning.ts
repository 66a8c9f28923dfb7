import { printable } from '../../core/text/printable.ts';

/** Where warnings go that no listener can take. */
export function writeWarning(message: string): void {
  globalThis.console.warn(printable`farwharf: ${message}`);
}
