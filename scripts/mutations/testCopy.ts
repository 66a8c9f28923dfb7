import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LINKED = ['node_modules', 'dist'];
const LEFT_OUT = [...LINKED, 'out', '.git', '.vscode-test'];
/** A busy machine takes a multiple of what the first run of a test took. */
const LIMIT = { baseMs: 10_000, factor: 5 };

/** A copy of the checkout in which sources can be changed and unit tests run. */
export class TestCopy {
  readonly folder: string;
  readonly #scratch: string;
  /** How long each test file took with unchanged sources; undefined if it failed. */
  readonly #unchanged = new Map<string, number | undefined>();

  private constructor(scratch: string) {
    this.#scratch = scratch;
    this.folder = join(scratch, 'copy');
  }

  static async create(root: string): Promise<TestCopy> {
    const copy = new TestCopy(await mkdtemp(join(tmpdir(), 'farwharf-mutations-')));
    await mkdir(copy.folder);
    await mkdir(join(copy.#scratch, 'tmp'));
    for (const name of await readdir(root)) {
      if (LINKED.includes(name)) await symlink(join(root, name), join(copy.folder, name));
      else if (!LEFT_OUT.includes(name)) await cp(join(root, name), join(copy.folder, name), { recursive: true });
    }
    return copy;
  }

  /** Whether a test file passes while a source has other text. Undefined if the file fails anyway. */
  async passes(
    test: string,
    source: { path: string; original: string; changed: string },
  ): Promise<boolean | undefined> {
    const unchangedMs = await this.#timeUnchanged(test);
    if (unchangedMs === undefined) return undefined;
    const path = join(this.folder, source.path);
    await writeFile(path, source.changed);
    try {
      return await this.#run(test, LIMIT.baseMs + LIMIT.factor * unchangedMs);
    } finally {
      await writeFile(path, source.original);
    }
  }

  async #timeUnchanged(test: string): Promise<number | undefined> {
    if (!this.#unchanged.has(test)) {
      const started = performance.now();
      const hasPassed = await this.#run(test, 10 * 60_000);
      this.#unchanged.set(test, hasPassed ? performance.now() - started : undefined);
    }
    return this.#unchanged.get(test);
  }

  /** A process group of its own, so that programs which a test started are killed with it. */
  async #run(test: string, limitMs: number): Promise<boolean> {
    const child = spawn(process.execPath, [test], {
      cwd: this.folder,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, TMPDIR: join(this.#scratch, 'tmp') },
    });
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // They are all gone.
      }
    };
    const timer = setTimeout(kill, limitMs);
    await once(child, 'close');
    clearTimeout(timer);
    kill();
    return child.exitCode === 0;
  }

  async dispose(): Promise<void> {
    await rm(this.#scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
