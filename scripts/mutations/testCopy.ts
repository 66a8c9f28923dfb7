import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { confined } from './confinement.ts';
import { ExecutedCode } from './executedCode.ts';

const LINKED = ['node_modules', 'dist'];
const LEFT_OUT = [...LINKED, 'out', '.git', '.vscode-test'];
const RUNNER = 'scripts/mutations/runTests.ts';
/** A busy machine takes a multiple of what the first run of a test took. */
const LIMIT = { baseMs: 10_000, factor: 5 };
/** How long no test may start while several files run together. A file that seems to hang is then tested alone. */
const SILENCE_MS = 60_000;

interface ChangedSource {
  readonly path: string;
  readonly original: string;
  readonly changed: string;
  /** Where the change begins. */
  readonly start: number;
}

/** What a test file did with unchanged sources. */
interface UnchangedRun {
  readonly ms: number;
  readonly executed: ExecutedCode;
}

interface Options {
  /** The first runs of test files, which copies of the same checkout share; undefined if the test failed. */
  readonly unchanged?: Map<string, Promise<UnchangedRun | undefined>>;
  /** Called with each test file that fails with unchanged sources. It decides about no mutant. */
  readonly onFailed?: (test: string) => void;
  /** Ends what runs, with an `AbortError` or the reason of the abort. */
  readonly signal?: AbortSignal;
}

/** The end of a process that ran test files. */
interface TestRun {
  readonly hasPassed: boolean;
  /** The file of the last test that started. */
  readonly lastFile: string | undefined;
}

/** A copy of the checkout in which sources can be changed and unit tests run. */
export class TestCopy {
  readonly folder: string;
  readonly #scratch: string;
  readonly #root: string;
  /** What each file of the copy was like when it was made. */
  #filled = new Map<string, string>();
  readonly #unchanged: Map<string, Promise<UnchangedRun | undefined>>;
  readonly #onFailed: ((test: string) => void) | undefined;
  readonly #signal: AbortSignal | undefined;
  /** Test files that failed together with others, but not alone. */
  readonly #separate = new Set<string>();

  private constructor(scratch: string, root: string, { unchanged = new Map(), onFailed, signal }: Options) {
    this.#scratch = scratch;
    this.#root = root;
    this.#unchanged = unchanged;
    this.#onFailed = onFailed;
    this.#signal = signal;
    this.folder = join(scratch, 'copy');
  }

  static async create(root: string, options: Options = {}): Promise<TestCopy> {
    const copy = new TestCopy(await mkdtemp(join(tmpdir(), 'farwharf-mutations-')), root, options);
    // Tests that root runs may start programs as another user, who needs a folder for temporary files too.
    await chmod(copy.#scratch, 0o711);
    await mkdir(join(copy.#scratch, 'tmp'));
    await chmod(join(copy.#scratch, 'tmp'), 0o1777);
    await copy.#fill();
    return copy;
  }

  /** Makes the copy anew if tests have changed it, so that the next do not fail for that reason. */
  async #repair(): Promise<void> {
    const now = await readFiles(this.folder);
    const isSame =
      now.size === this.#filled.size && now.entries().every(([path, state]) => this.#filled.get(path) === state);
    if (isSame) return;
    await rm(this.folder, { recursive: true, force: true });
    await this.#fill();
  }

  async #fill(): Promise<void> {
    await mkdir(this.folder);
    for (const name of await readdir(this.#root)) {
      const [from, to] = [join(this.#root, name), join(this.folder, name)];
      if (LINKED.includes(name)) await symlink(from, to);
      else if (!LEFT_OUT.includes(name)) await cp(from, to, { recursive: true });
    }
    this.#filled = await readFiles(this.folder);
  }

  /** Returns up to `most` of the test files, in their order, which pass and execute a place of a source. */
  async executing(
    tests: readonly string[],
    { path, start }: Pick<ChangedSource, 'path' | 'start'>,
    most: number,
  ): Promise<string[]> {
    const found: string[] = [];
    for (const test of tests) {
      if (found.length === most) break;
      const run = await this.#runUnchanged(test);
      if (run?.executed.has(path, start) === true) found.push(test);
    }
    return found;
  }

  /**
   * Whether one of the test files fails, or never ends, only because a source has other text. Several files share a process, and one
   * that fails there counts only if it also fails alone.
   */
  async isNoticed(tests: readonly string[], source: ChangedSource): Promise<boolean> {
    let together = tests.filter((test) => !this.#separate.has(test));
    const alone = tests.filter((test) => this.#separate.has(test));
    while (together.length > 1) {
      const { hasPassed, lastFile } = await this.#runChanged(source, together, { silenceMs: SILENCE_MS });
      if (hasPassed) break;
      const suspect = together.find((test) => test === lastFile) ?? together[0] ?? '';
      if (await this.#failsAlone(suspect, source)) return true;
      this.#separate.add(suspect);
      together = together.filter((test) => test !== suspect);
    }
    if (together.length === 1) alone.push(...together);
    for (const test of alone) if (await this.#failsAlone(test, source)) return true;
    return false;
  }

  async #failsAlone(test: string, source: ChangedSource): Promise<boolean> {
    const unchanged = await this.#runUnchanged(test);
    if (unchanged === undefined) return false;
    const { hasPassed } = await this.#runChanged(source, [test], {
      totalMs: LIMIT.baseMs + LIMIT.factor * unchanged.ms,
    });
    return !hasPassed;
  }

  #runUnchanged(test: string): Promise<UnchangedRun | undefined> {
    const running = this.#unchanged.get(test) ?? this.#measure(test);
    this.#unchanged.set(test, running);
    return running;
  }

  async #measure(test: string): Promise<UnchangedRun | undefined> {
    const reports = await mkdtemp(join(this.#scratch, 'coverage-'));
    await chmod(reports, 0o1777);
    const started = performance.now();
    const { hasPassed } = await this.#run([test], { totalMs: 10 * 60_000 }, { NODE_V8_COVERAGE: reports });
    const ms = performance.now() - started;
    await this.#repair();
    const executed = await ExecutedCode.read(this.folder, reports);
    await rm(reports, { recursive: true });
    if (hasPassed) return { ms, executed };
    this.#onFailed?.(test);
    return undefined;
  }

  async #runChanged(source: ChangedSource, tests: readonly string[], limit: Limit): Promise<TestRun> {
    const path = join(this.folder, source.path);
    await writeFile(path, source.changed);
    try {
      return await this.#run(tests, limit);
    } finally {
      await this.#restore(path, source.original);
      await this.#repair();
    }
  }

  async #restore(path: string, original: string): Promise<void> {
    try {
      if ((await readFile(path, 'utf8')) !== original) await writeFile(path, original);
      this.#filled.set(path, await readState(path));
    } catch (error) {
      // The tests removed the file or its folder, and the repair brings it back.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }

  /** A process group of its own, so that programs which a test started are killed with it. */
  async #run(tests: readonly string[], { totalMs, silenceMs }: Limit, env: NodeJS.ProcessEnv = {}): Promise<TestRun> {
    this.#signal?.throwIfAborted();
    const [program = '', ...args] = confined([process.execPath, RUNNER, ...tests]);
    const child = spawn(program, args, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      // Within a test, Node.js would refuse to run another.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, TMPDIR: join(this.#scratch, 'tmp'), ...env },
    });
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // They are all gone.
      }
    };
    const timer = setTimeout(kill, totalMs ?? silenceMs);
    this.#signal?.addEventListener('abort', kill);
    let lastFile: string | undefined;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      lastFile = text.split('\n').findLast((line) => line.endsWith('.test.ts')) ?? lastFile;
      if (silenceMs !== undefined) timer.refresh();
    });
    // Programs that a test left running may keep the output open.
    await once(child, 'exit');
    clearTimeout(timer);
    this.#signal?.removeEventListener('abort', kill);
    kill();
    this.#signal?.throwIfAborted();
    return {
      hasPassed: child.exitCode === 0,
      lastFile: lastFile === undefined ? undefined : relative(this.folder, lastFile),
    };
  }

  async dispose(): Promise<void> {
    await rm(this.#scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

async function readFiles(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const kept = files.filter((path) => !LEFT_OUT.includes(relative(folder, path).split(sep)[0] ?? ''));
  return new Map(await Promise.all(kept.map(async (path) => [path, await readState(path)] as const)));
}

/** Any write changes the time at which the file system last changed the entry, which no program can set. */
async function readState(path: string): Promise<string> {
  const { size, ctimeNs } = await lstat(path, { bigint: true });
  return `${size} ${ctimeNs}`;
}

type Limit =
  | { readonly totalMs: number; readonly silenceMs?: undefined }
  | { readonly silenceMs: number; readonly totalMs?: undefined };
