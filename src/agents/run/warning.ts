import { printable } from '../../core/text/printable.ts';

/** Writes a warning that no listener receives. */
export function writeWarning(message: string): void {
  globalThis.console.warn(printable`farwharf: ${message}`);
}
