import { printable } from '../core/printable.ts';

/** Where warnings go that no listener can take. */
export function writeWarning(message: string): void {
  globalThis.console.warn(printable`farwharf: ${message}`);
}
