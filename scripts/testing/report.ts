import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEvent } from '../../test/host/support/events.ts';

export class Counts {
  passed = 0;
  failed = 0;
  skipped = 0;
  retried = 0;
  /** What was printed about each failed and each retried test. */
  readonly failures: string[] = [];

  add(other: Counts): void {
    this.passed += other.passed;
    this.failed += other.failed;
    this.skipped += other.skipped;
    this.retried += other.retried;
    this.failures.push(...other.failures);
  }
}

/** The outcomes of one part of the tests. */
export interface PartReport {
  readonly counts: Counts;
  readonly print: (text: string) => void;
}

/** Reports of parts that run side by side. Each line stands below the title of its part, which is printed again after another part's lines. */
export class PartReports {
  readonly #write: (text: string) => void;
  #last = '';

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  start(title: string): PartReport {
    const print = (text: string): void => {
      if (this.#last !== title) this.#write(`\n${title}\n`);
      this.#last = title;
      this.#write(text);
    };
    return { counts: new Counts(), print };
  }
}

const POLL_MS = 200;

/** Prints one test's outcome for a person, and counts it. */
export function printEvent(event: TestEvent, { counts, print }: PartReport): void {
  const printFailure = (outcome: string, { title, error }: { title: string; error: string }): void => {
    const text = `  ${outcome} ${title}\n${error.replaceAll(/^/gm, '          ')}\n`;
    counts.failures.push(text);
    print(text);
  };
  switch (event.type) {
    case 'pass':
      counts.passed += 1;
      print(`  ok      ${event.title} (${(event.durationMs / 1000).toFixed(1)} s)\n`);
      return;
    case 'fail':
      counts.failed += 1;
      printFailure('FAILED ', event);
      return;
    case 'retry':
      counts.retried += 1;
      printFailure('RETRIED', event);
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

/** The failures once more, because a long report is read from its end, and a last line such as `36 passed, 0 failed`. */
export function summary({ passed, failed, skipped, retried, failures }: Counts): string {
  const repeated = failures.length > 0 ? `\nFailed or retried:\n${failures.join('')}\n` : '';
  const more = [...(skipped > 0 ? [`${skipped} SKIPPED`] : []), ...(retried > 0 ? [`${retried} RETRIED`] : [])];
  return repeated + [`${passed} passed`, `${failed} failed`, ...more].join(', ');
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
