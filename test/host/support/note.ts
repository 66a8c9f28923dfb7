import { appendFileSync } from 'node:fs';
import type { TestEvent } from './events.ts';

/** Prints a figure among the tests' outcomes. */
export function note(text: string): void {
  const report = process.env['FARWHARF_TEST_REPORT'];
  if (report === undefined) throw new Error('FARWHARF_TEST_REPORT is not set.');
  appendFileSync(report, `${JSON.stringify({ type: 'note', text } satisfies TestEvent)}\n`);
}
