import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Index } from '../../../src/retrieval/index/index.ts';
import { indexPath } from '../../../src/retrieval/index/indexStore.ts';
import { UNFINISHED } from '../../../src/core/files/atomicFile.ts';
import { selectSearchable } from '../../../src/workspace/select/searchableFiles.ts';
import { type Below, type Random } from '../../random.ts';
import { randomText } from '../../unit/retrieval/randomCorpus.ts';
import type { Kill, Life, Place } from '../campaign.ts';
import type { IndexLine } from '../indexProcess.ts';
import { KilledProcess } from '../process.ts';

const PROGRAM = join(import.meta.dirname, '../indexProcess.ts');
const NEW_FILES = 300;

/** The index of a folder, while it is built or while files change: what was kept is there, and it finds what one finds that is built anew. */
export const folderIndex: Place = {
  name: 'index',
  begin: async (folder, random) => new IndexLife(folder, random),
};

class IndexLife implements Life {
  readonly #root: string;
  readonly #home: string;
  readonly #random: Random;
  readonly #below: Below;
  /** What was said to be kept: the hash of each file. */
  #kept = new Map<string, string>();

  constructor(folder: string, random: Random) {
    [this.#root, this.#home] = [join(folder, 'folder'), join(folder, 'home')];
    this.#random = random;
    this.#below = (limit) => Math.floor(random() * limit);
    this.#writeFiles(NEW_FILES);
  }

  async kill(): Promise<Kill> {
    const isBuilding = this.#random() < 0.4;
    // Much that is new, so that the kill comes while it is taken in.
    if (isBuilding) this.#writeFiles(NEW_FILES);
    const worker = new KilledProcess(process.execPath, [PROGRAM, this.#root, this.#home, String(this.#below(1e6))]);
    if (isBuilding) await this.#untilWritten(worker);
    else await worker.untilLines(1);
    await sleep(this.#random() * (isBuilding ? 60 : 150));
    await worker.kill();
    assert.ok(worker.isKilled, worker.errors);
    const lines = worker.lines.map((line) => JSON.parse(line) as IndexLine);
    const begun = this.#learn(lines);
    const isUnfinished =
      begun.size > 0 || readdirSync(indexPath(this.#home, this.#root)).some((name) => name.endsWith(UNFINISHED));
    await this.#check(begun);
    return { isMidWrite: isUnfinished };
  }

  async finish(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Takes in what was kept. Gives what may be as it was or as it was to be: files and their new hashes. */
  #learn(lines: readonly IndexLine[]): ReadonlyMap<string, string | null> {
    for (const { type, files } of lines) {
      if (type === 'all') this.#kept = new Map();
      if (type === 'begun') continue;
      for (const [path, known] of Object.entries(files)) {
        if (known === null) this.#kept.delete(path);
        else this.#kept.set(path, known);
      }
    }
    if (lines.length > 0)
      return new Map(lines.at(-1)?.type === 'begun' ? Object.entries(lines.at(-1)?.files ?? {}) : []);
    return new Map([...this.#onDisk()].filter(([path, known]) => this.#kept.get(path) !== known));
  }

  async #check(begun: ReadonlyMap<string, string | null>): Promise<void> {
    using index = await Index.open({ root: this.#root, home: this.#home });
    assert.equal(index.isWriter, true, 'the lock of a dead process is no lock');
    assert.equal(index.problem, undefined);
    for (const path of new Set([
      ...this.#kept.keys(),
      ...begun.keys(),
      ...[...index.sources()].map((source) => source.path),
    ])) {
      const known = index.source(path)?.hash ?? null;
      const isKept = known === (this.#kept.get(path) ?? null);
      assert.ok(
        isKept || (begun.has(path) && known === begun.get(path)),
        `${path} is in the index as it never was kept`,
      );
    }
    const { files } = await selectSearchable(this.#root, { isTrusted: false });
    await index.sync(files);
    const home = `${this.#home}-fresh`;
    rmSync(home, { recursive: true, force: true });
    using fresh = await Index.open({ root: this.#root, home });
    await fresh.sync(files);
    for (let count = 0; count < 3; count += 1) {
      const query = randomText(this.#below, 40, 3);
      assert.deepEqual(await index.search(query, 15), await fresh.search(query, 15), query);
    }
    assert.deepEqual(index.stats, fresh.stats);
    this.#kept = new Map([...index.sources()].map((source) => [source.path, source.hash]));
    assert.deepEqual(this.#kept, new Map([...this.#onDisk()].filter(([path]) => this.#kept.has(path))));
  }

  #onDisk(): ReadonlyMap<string, string> {
    const paths = readdirSync(this.#root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.txt'),
    );
    return new Map(
      paths.map((path) => [path, hash('sha256', readFileSync(join(this.#root, path)), 'hex').slice(0, 32)]),
    );
  }

  #writeFiles(count: number): void {
    for (let number = 0; number < count; number += 1) {
      const file = join(this.#root, `d${number % 5}`, `g${this.#below(NEW_FILES)}.txt`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, randomText(this.#below, 40, 200));
    }
  }

  /** Resolves when the worker writes something, or has ended. */
  async #untilWritten(worker: KilledProcess): Promise<void> {
    const folder = indexPath(this.#home, this.#root);
    const names = (): string => (existsSync(folder) ? readdirSync(folder).toSorted().join() : '');
    const before = names();
    while (names() === before && worker.lines.length === 0 && !worker.hasEnded) await sleep(2);
  }
}
