import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEvent } from '../../test/host/support/events.ts';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  retried: number;
}

const POLL_MS = 200;

/** Prints one test's outcome for a person, and counts it. */
export function printEvent(event: TestEvent, counts: Counts, print: (text: string) => void): void {
  switch (event.type) {
    case 'pass':
      counts.passed += 1;
      print(`  ok      ${event.title} (${(event.durationMs / 1000).toFixed(1)} s)\n`);
      return;
    case 'fail':
      counts.failed += 1;
      print(`  FAILED  ${event.title}\n${event.error.replaceAll(/^/gm, '          ')}\n`);
      return;
    case 'retry':
      counts.retried += 1;
      print(`  RETRIED ${event.title}\n${event.error.replaceAll(/^/gm, '          ')}\n`);
      return;
    case 'skip':
      counts.skipped += 1;
      print(`  SKIPPED ${event.title}\n`);
      return;
    case 'note':
      print(`          ${event.text}\n`);
      return;
    case 'done':
      return;
  }
}

/** `36 passed, 0 failed`, and what else has to be said. */
export function summary({ passed, failed, skipped, retried }: Counts): string {
  const more = [...(skipped > 0 ? [`${skipped} SKIPPED`] : []), ...(retried > 0 ? [`${retried} RETRIED`] : [])];
  return [`${passed} passed`, `${failed} failed`, ...more].join(', ');
}

/**
 * Yields the events that a run inside VS Code writes to `path`, until its `done` or until `signal` ends the wait; what
 * was written up to then is still reported.
 */
export async function* followReport(path: string, signal: AbortSignal): AsyncGenerator<TestEvent, void> {
  let seen = 0;
  for (;;) {
    const isLast = signal.aborted;
    const text = await readFile(path, 'utf8').catch(() => '');
    const lines = text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .slice(seen, -1);
    seen += lines.length;
    for (const line of lines) {
      const event = JSON.parse(line) as TestEvent;
      yield event;
      if (event.type === 'done') return;
    }
    if (isLast) return;
    await sleep(POLL_MS);
  }
}
