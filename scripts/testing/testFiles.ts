import { run } from 'node:test';
import { inspect } from 'node:util';
import type { TestEvent } from '../test/host/support/events.ts';

// Guards against a hang only: a busy machine takes many times as long as a quiet one.
const TEST_TIMEOUT_MS = 15 * 60_000;

interface Options {
  readonly files: readonly string[];
  /** How many files run at once. */
  readonly concurrency: number;
  /** Only tests with this in their names. */
  readonly grep?: string | undefined;
}

/** Runs test files as `node --test` does, and yields the outcome of each test. */
export async function* runTestFiles(options: Options): AsyncGenerator<TestEvent, void> {
  for await (const { event } of runFiles(options)) yield event;
}

/**
 * Runs test files that drive a window of VS Code, and those with a failure once more. A failed first attempt is yielded as `retry`, so
 * that it is seen; a test that fails twice has failed.
 *
 * VS Code moves its focus asynchronously and ignores keys that arrive in between, so that one of several thousand keys is lost.
 */
export async function* runWindowTestFiles(options: Options): AsyncGenerator<TestEvent, void> {
  const failed = new Set<string>();
  for await (const { file, event } of runFiles(options)) {
    if (event.type === 'fail') failed.add(file);
    yield event.type === 'fail' ? { ...event, type: 'retry' } : event;
  }
  if (failed.size > 0) yield* runTestFiles({ ...options, files: [...failed] });
}

async function* runFiles({
  files,
  concurrency,
  grep,
}: Options): AsyncGenerator<{ file: string; event: TestEvent }, void> {
  const patterns = grep === undefined ? {} : { testNamePatterns: [grep] };
  const options = { files: [...files], concurrency, timeout: TEST_TIMEOUT_MS, ...patterns };
  const events = run(options) as AsyncIterable<{ type: string; data: Outcome }>;
  const silent = new Set(files);
  // Of tests that a file declares through a shared function, whose events name that function's file and come before those of their suite.
  let shared: TestEvent[] = [];
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // Node.js reports a file as a test of its own if none of its tests ran.
    const hasRun = data.name !== data.file || type === 'test:fail' || grep !== undefined;
    if (hasRun) silent.delete(data.file);
    const event = describe(type === 'test:pass', data);
    if (!files.includes(data.file)) {
      if (event !== undefined) shared.push(event);
      continue;
    }
    for (const one of shared) yield { file: data.file, event: one };
    shared = [];
    if (hasRun && event !== undefined) yield { file: data.file, event };
  }
  // Such as one whose process ended early, or whose report was lost.
  for (const file of silent)
    yield { file, event: { type: 'fail', title: file, error: 'No test of this file was reported.' } };
}

/** What Node.js reports of a test. */
interface Outcome {
  readonly name: string;
  readonly file: string;
  readonly skip?: string | boolean;
  readonly details: { readonly type?: string; readonly duration_ms: number; readonly error?: Error };
}

function describe(isPassed: boolean, { name: title, skip, details }: Outcome): TestEvent | undefined {
  if (skip !== undefined) return { type: 'skip', title: typeof skip === 'string' ? `${title}: ${skip}` : title };
  const { error } = details;
  if (!isPassed) {
    if (error !== undefined && 'failureType' in error && error.failureType === 'subtestsFailed') return undefined; // each of them was reported
    return { type: 'fail', title, error: inspect(error?.cause ?? error) };
  }
  return details.type === 'suite' ? undefined : { type: 'pass', title, durationMs: details.duration_ms };
}
