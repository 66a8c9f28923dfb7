import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEvent } from '../../test/host/support/events.ts';
import { COMPILE_CACHE } from '../compileCache.ts';
import { isKnownFailure } from './knownFailures.ts';
import { runTestFiles, type TestRun } from './testFiles.ts';

type Outcomes = Pick<Counts, 'passed' | 'failed' | 'skipped' | 'known' | 'failures'>;

export class Counts {
  passed = 0;
  failed = 0;
  skipped = 0;
  /** Failures that are listed as known. */
  known = 0;
  /** What was printed about each failed test. */
  readonly failures: string[] = [];

  add(other: Outcomes): void {
    this.passed += other.passed;
    this.failed += other.failed;
    this.skipped += other.skipped;
    this.known += other.known;
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
  switch (event.type) {
    case 'pass':
      counts.passed += 1;
      print(`  ok      ${nameOf(event)} (${(event.durationMs / 1000).toFixed(1)} s)\n`);
      return;
    case 'fail': {
      const isKnown = isKnownFailure(event.file, event.title);
      counts[isKnown ? 'known' : 'failed'] += 1;
      const text = `  ${isKnown ? 'KNOWN ' : 'FAILED'}  ${nameOf(event)}\n${event.error.replaceAll(/^/gm, '          ')}\n`;
      counts.failures.push(text);
      print(text);
      return;
    }
    case 'skip':
      counts.skipped += 1;
      print(`  SKIPPED ${nameOf(event)}\n`);
      return;
    case 'note':
      print(`${event.text.trimEnd().replaceAll(/^/gm, '          ')}\n`);
      return;
    case 'done':
      return;
  }
}

function nameOf({ file, title }: { readonly file: string; readonly title: string }): string {
  return title === '' ? file : `${file}: ${title}`;
}

/** The failures once more, because a long report is read from its end, and a last line such as `36 passed, 0 failed, 2 skipped`. */
export function summary(counts: Counts): string {
  const { failures } = counts;
  return (failures.length > 0 ? `\nFailed:\n${failures.join('')}\n` : '') + formatCounts(counts);
}

export function formatCounts({ passed, failed, skipped, known }: Outcomes): string {
  const more = [...(skipped > 0 ? [`${skipped} skipped`] : []), ...(known > 0 ? [`${known} known to fail`] : [])];
  return [`${passed} passed`, `${failed} failed`, ...more].join(', ');
}

/** Reads the last line that `formatCounts` has written in a text; undefined if there is none. */
export function parseCounts(text: string): Outcomes | undefined {
  const lines = text.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?(?:, (\d+) known to fail)?$/gm);
  const last = [...lines].at(-1);
  if (last === undefined) return undefined;
  const [passed = 0, failed = 0, skipped = 0, known = 0] = last.slice(1).map((digits) => Number(digits ?? 0));
  return { passed, failed, skipped, known, failures: [] };
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

/** Runs test files, prints the outcome of each test, and returns the exit code. */
export async function reportTestFiles(options: TestRun): Promise<number> {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;
  const counts = new Counts();
  const print = (text: string): void => void process.stdout.write(text);
  for await (const event of runTestFiles(options)) printEvent(event, { counts, print });
  print(`${summary(counts)}\n`);
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}
