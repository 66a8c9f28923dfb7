import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import type { TestEvent } from '../../test/host/support/events.ts';

/** Guards against a hang only: a busy machine takes many times as long as a quiet one. */
const TEST_TIMEOUT_MS = 15 * 60_000;
/** Each process costs a tenth of a second of processor time, and parses again what the sources of its tests share. */
export const UNIT_FILES_PER_PROCESS = 12;
/** How much of what a process printed is shown if one of its tests fails. */
const MAX_OUTPUT_LENGTH = 16_384;

export interface TestRun {
  /** Absolute paths. */
  readonly files: readonly string[];
  /** How many processes run at once. */
  readonly concurrency: number;
  /** Default: 1. */
  readonly filesPerProcess?: number;
  /** Only tests with this in their names. */
  readonly grep?: string | undefined;
}

/**
 * Runs test files with the test runner of Node.js, each once, and yields the outcome of each test.
 *
 * A process imports each of its files within a suite of the file's path. So an outcome names the file even if a function of another file
 * declares the test, and a file whose suite does not end has failed, whatever the exit code of its process.
 */
export async function* runTestFiles(options: TestRun): AsyncGenerator<TestEvent, void> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-tests-'));
  try {
    yield* runProcesses(await writeProcesses(folder, options), options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The tests of one process. */
class TestProcess {
  /** Files whose tests have not all been reported. */
  readonly missing: Set<string>;
  readonly files: readonly string[];
  hasFailed = false;
  #output = '';

  constructor(files: readonly string[]) {
    this.files = files;
    this.missing = new Set(files);
  }

  print(text: string): void {
    this.#output = (this.#output + text).slice(-MAX_OUTPUT_LENGTH);
  }

  /** Yields what the process printed since the last call, if one of its tests has failed. */
  *evidence(): Generator<TestEvent, void> {
    if (!this.hasFailed || this.#output === '') return;
    yield { type: 'note', text: this.#output };
    this.#output = '';
  }
}

/** Returns the processes by the path of the module that each of them starts with. */
async function writeProcesses(
  folder: string,
  { files, filesPerProcess = 1 }: TestRun,
): Promise<Map<string, TestProcess>> {
  const processes = new Map<string, TestProcess>();
  for (let start = 0; start < files.length; start += filesPerProcess) {
    const own = files.slice(start, start + filesPerProcess);
    const suites = own.map((path) => `suite(${JSON.stringify(path)}, () => import('${pathToFileURL(path).href}'));\n`);
    const path = join(folder, `${String(processes.size + 1).padStart(3, '0')}.mjs`);
    await writeFile(path, `import { suite } from 'node:test';\n${suites.join('')}`);
    processes.set(path, new TestProcess(own));
  }
  return processes;
}

async function* runProcesses(
  processes: ReadonlyMap<string, TestProcess>,
  { concurrency, grep }: TestRun,
): AsyncGenerator<TestEvent, void> {
  const patterns = grep === undefined ? {} : { testNamePatterns: [grep] };
  const options = { files: [...processes.keys()], concurrency, timeout: TEST_TIMEOUT_MS, ...patterns };
  const events = run(options) as AsyncIterable<{ type: string; data: RunnerEvent }>;
  let current: { process: TestProcess; file: string } | undefined;
  const titles: string[] = []; // of the suites around a test, by nesting
  // Node.js reports the tests of one process after those of another, in the order of their declaration.
  for await (const { type, data } of events) {
    const own = data.file === undefined ? undefined : processes.get(data.file);
    if (type === 'test:stdout' || type === 'test:stderr' || type === 'test:diagnostic') own?.print(`${data.message}\n`);
    if (type !== 'test:start' && type !== 'test:pass' && type !== 'test:fail') continue;
    if (own !== undefined && data.nesting === 0) {
      const isFile = own.files.includes(data.name);
      if (isFile && type === 'test:start') current = { process: own, file: data.name };
      if (isFile && type !== 'test:start') own.missing.delete(data.name);
      // The process itself is reported as a test only if it ended badly.
      const event = type === 'test:fail' ? failure(data, isFile ? [data.name] : own.files) : undefined;
      if (event !== undefined) {
        own.hasFailed = true;
        yield event;
      }
      if (own.missing.size === 0 || !isFile) yield* own.evidence();
    } else if (current !== undefined) {
      titles.length = data.nesting;
      titles[data.nesting] = data.name;
      if (type === 'test:start') continue;
      const event = describe(type === 'test:pass', data, current.file, titles.slice(1).join(' > '));
      if (event?.type === 'fail') current.process.hasFailed = true;
      if (event !== undefined) yield event;
    }
  }
  if (grep !== undefined) return; // a file without such a test is not reported
  for (const process of processes.values()) {
    for (const file of process.missing) {
      process.hasFailed = true;
      yield {
        type: 'fail',
        file: shownPath(file),
        title: '',
        error: 'The process ended before all tests of this file.',
      };
    }
    yield* process.evidence();
  }
}

/** What Node.js reports. */
interface RunnerEvent {
  readonly name: string;
  readonly nesting: number;
  /** Where the test was declared; of what is printed, the module that the process started with. */
  readonly file?: string;
  readonly message?: string;
  readonly skip?: string | boolean;
  readonly details: { readonly type?: string; readonly duration_ms: number; readonly error?: Error };
}

function describe(isPassed: boolean, data: RunnerEvent, path: string, title: string): TestEvent | undefined {
  const file = shownPath(path);
  const { skip, details } = data;
  if (skip !== undefined) return { type: 'skip', file, title: typeof skip === 'string' ? `${title}: ${skip}` : title };
  if (!isPassed) return failure(data, [path], title);
  return details.type === 'suite' ? undefined : { type: 'pass', file, title, durationMs: details.duration_ms };
}

function failure({ details: { error } }: RunnerEvent, files: readonly string[], title = ''): TestEvent | undefined {
  if (error !== undefined && 'failureType' in error && error.failureType === 'subtestsFailed') return undefined; // each of them was reported
  return { type: 'fail', file: files.map(shownPath).join(', '), title, error: explain(error?.cause ?? error) };
}

/** Without the properties of a failed assertion, which its message has already. */
function explain(error: unknown): string {
  const isAssertion = error instanceof Error && 'code' in error && error.code === 'ERR_ASSERTION';
  return isAssertion ? String(error.stack) : inspect(error);
}

function shownPath(path: string): string {
  return relative(process.cwd(), path);
}
