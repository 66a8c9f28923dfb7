import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Index } from '../../../../src/retrieval/index/index.ts';
import type { Commit } from '../../../../src/retrieval/index/folderHistory.ts';
import { IndexUpdater } from '../../../../src/retrieval/server/indexUpdater.ts';
import { indexPath } from '../../../../src/retrieval/index/indexStore.ts';
import { inspectSearchable, selectSearchable } from '../../../../src/workspace/select/searchableFiles.ts';
import { type Below, seeded, TIMES } from '../../../random.ts';
import { randomText } from '../randomCorpus.ts';

const SEQUENCES = 6 * TIMES;
const STEPS = 8;
const SEQUENCES_OF_A_FOLDER = 40;
const BUSY_WRITER = join(import.meta.dirname, '../../../kills/indexProcess.ts');
const SELECTOR = { select: selectSearchable, inspect: inspectSearchable };
const OPTIONS = {
  signal: new AbortController().signal,
  onProgress: () => {},
  onAll: () => {},
  onLargeWork: async () => {},
};

/** Words, half of the time in German, which have stems of their own. */
function randomProse(random: Below, most: number): string {
  const text = randomText(random, 40, most);
  if (random(2) === 0) return text;
  const nouns = ['Rechnung', 'Rechnungen', 'Haus', 'Häuser', 'Größe', 'Größen'];
  return `${text} die ${nouns[random(nouns.length)]} ist nicht mit der ${nouns[random(nouns.length)]}`;
}

/** A folder that is changed at random, and its index, which may or may not be notified of the changes. */
class Life {
  readonly root: string;
  readonly home: string;
  readonly random: Below;
  readonly overlays = new Map<string, string>();
  /** What was done, for the message of a failure. */
  readonly story: string[] = [];
  #index: Index;
  #updater: IndexUpdater;
  /** Whether something changed of which the index was not notified. */
  #isBehind = true;
  /** The newest first. */
  readonly #commits: Commit[] = [];
  #time = Date.parse('2026-01-01T00:00:00Z');

  private constructor(base: string, random: Below, index: Index) {
    this.root = join(base, 'folder');
    this.home = join(base, 'home');
    this.random = random;
    this.#index = index;
    this.#updater = this.#updaterOf(index);
  }

  static async begin(base: string, random: Below): Promise<Life> {
    await mkdir(join(base, 'folder'), { recursive: true });
    return new Life(base, random, await Index.open({ root: join(base, 'folder'), home: join(base, 'home') }));
  }

  async step(): Promise<void> {
    const steps = ['edit', 'edit', 'edit', 'remove', 'renameFile', 'renameFolder', 'removeFolder', 'overlay'] as const;
    const others = ['merge', 'reopen', 'damage', 'commit', 'rebase'] as const;
    const at = this.random(steps.length + others.length);
    const step = steps[at] ?? others[at - steps.length] ?? 'edit';
    this.story.push(step);
    await this[step]();
  }

  async edit(): Promise<void> {
    const path = this.#anyPath();
    await this.#write(path);
    await this.#tell([path]);
  }

  async remove(): Promise<void> {
    const path = this.#anyPath();
    await rm(join(this.root, path), { force: true });
    await this.#tell([path]);
  }

  async renameFile(): Promise<void> {
    const [from, to] = [this.#anyPath(), this.#anyPath()];
    if (!(await this.#isThere(from))) return;
    await mkdir(dirname(join(this.root, to)), { recursive: true });
    await rename(join(this.root, from), join(this.root, to));
    await this.#tell([from, to]);
  }

  async renameFolder(): Promise<void> {
    const [from, to] = [`d${this.random(3)}`, `d${this.random(3)}`];
    if (!(await this.#isThere(from)) || from === to) return;
    await rm(join(this.root, to), { recursive: true, force: true });
    await rename(join(this.root, from), join(this.root, to));
    await this.#tell([from, to]);
  }

  async removeFolder(): Promise<void> {
    if (this.random(3) > 0) return;
    const path = `d${this.random(3)}`;
    await rm(join(this.root, path), { recursive: true, force: true });
    await this.#tell([path]);
  }

  async overlay(): Promise<void> {
    const path = this.#anyPath();
    const text = this.random(3) === 0 ? undefined : randomProse(this.random, 12);
    if (text === undefined) this.overlays.delete(path);
    else this.overlays.set(path, text);
    this.#index.setOverlay(path, text);
  }

  /** More changes than are left unmerged. */
  async merge(): Promise<void> {
    for (let count = 0; count < 30; count += 1) {
      const path = this.#anyPath();
      await this.#write(path);
      await this.#index.update([path]);
    }
  }

  /** A commit of some files, which the index reads or not. */
  async commit(): Promise<void> {
    const paths = [this.#anyPath(), this.#anyPath()];
    this.#time += 1000;
    this.#commits.unshift({ id: String(this.#time), message: randomText(this.random, 40, 8), paths });
    if (this.random(2) === 0) await this.#readHistory(this.#index);
  }

  /** The last commits are replaced by one. */
  async rebase(): Promise<void> {
    this.#commits.splice(0, this.random(4));
    await this.commit();
  }

  async reopen(): Promise<void> {
    this.close();
    this.#index = await Index.open({ root: this.root, home: this.home });
    assert.equal(this.#index.isWriter, true);
    for (const [path, text] of this.overlays) this.#index.setOverlay(path, text);
    this.#updater = this.#updaterOf(this.#index);
  }

  /** A file of the index is cut, damaged or gone. */
  async damage(): Promise<void> {
    this.close();
    const folder = indexPath(this.home, this.root);
    const names = (await readdir(folder)).filter((name) => !name.startsWith('writer.lock'));
    const file = join(folder, names[this.random(names.length)] ?? 'segments.json');
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    const at = this.random(bytes.length);
    if (this.random(3) === 0) await rm(file, { force: true });
    else if (this.random(2) === 0) await writeFile(file, bytes.subarray(0, at));
    else
      await writeFile(
        file,
        bytes.map((byte, place) => (place === at ? byte ^ (1 << this.random(8)) : byte)),
      );
    this.#isBehind = true;
    await this.reopen();
  }

  /** Another process changes the folder and the index, and is killed. */
  async kill(): Promise<void> {
    this.story.push('kill');
    this.close();
    const argv = [BUSY_WRITER, this.root, this.home, String(this.random(1e6))];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    await Promise.race([once(child.stdout, 'data'), closed]);
    assert.equal(child.exitCode, null, 'it runs until it is killed');
    await sleep(this.random(80));
    child.kill('SIGKILL');
    await closed;
    this.#isBehind = true;
    await this.reopen();
  }

  /** What the index finds is what one finds that was built from the folder as it is. */
  async check(): Promise<void> {
    if (this.#isBehind) await this.#updater.take({ isAll: true, paths: new Set() }, OPTIONS);
    this.#isBehind = false;
    await this.#readHistory(this.#index);
    const home = `${this.home}-fresh`;
    await rm(home, { recursive: true, force: true });
    using fresh = await Index.open({ root: this.root, home });
    await fresh.sync((await selectSearchable(this.root, { isTrusted: false })).files);
    for (const [path, text] of this.overlays) fresh.setOverlay(path, text);
    await this.#readHistory(fresh);
    for (let count = 0; count < 3; count += 1) {
      const query = randomProse(this.random, 3);
      assert.deepEqual(
        await this.#index.search(query, 15),
        await fresh.search(query, 15),
        this.story.slice(-40).join(),
      );
    }
    assert.deepEqual(this.#index.stats, fresh.stats);
  }

  #readHistory({ history, isWriter: isStored }: Index): Promise<void> {
    const [{ id: head } = { id: undefined }] = this.#commits;
    return history.update(
      async (_folder, { known }) => {
        if (head === known.head) return undefined;
        const added = this.#commits.filter(({ id }) => !known.ids.has(id));
        return { head, ids: this.#commits.map(({ id }) => id), added };
      },
      { signal: OPTIONS.signal, isStored },
    );
  }

  close(): void {
    this.#index[Symbol.dispose]();
  }

  #updaterOf(index: Index): IndexUpdater {
    return new IndexUpdater(index, this.root, { isTrusted: false }, SELECTOR);
  }

  async #tell(paths: readonly string[]): Promise<void> {
    if (this.random(4) === 0) this.#isBehind = true;
    else await this.#updater.take({ isAll: false, paths: new Set(paths) }, OPTIONS);
  }

  async #write(path: string): Promise<void> {
    const file = join(this.root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, randomProse(this.random, 40));
    this.#time += 1000;
    // Some are as if written long ago, so that their times are relied on.
    if (this.random(2) === 0) await utimes(file, this.#time / 1000, this.#time / 1000);
  }

  #anyPath(): string {
    return `d${this.random(3)}/f${this.random(6)}.${this.random(4) === 0 ? 'md' : 'txt'}`;
  }

  #isThere(path: string): Promise<boolean> {
    return stat(join(this.root, path)).then(
      () => true,
      () => false,
    );
  }
}

test(`${SEQUENCES} sequences of changes, merges, reopenings, damages and kills give exactly the results of an index built from scratch`, async (t) => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-sequences-')));
  t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
  let life: Life | undefined;
  for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
    if (life === undefined || sequence % SEQUENCES_OF_A_FOLDER === 0) {
      life?.close();
      life = await Life.begin(join(base, String(sequence)), seeded(1000 + sequence));
    }
    for (let step = 0; step < STEPS; step += 1) await life.step();
    if (sequence % 20 === 19) await life.kill();
    await life.check();
  }
  life?.close();
});
