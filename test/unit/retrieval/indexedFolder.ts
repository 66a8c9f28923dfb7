import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Index } from '../../../src/retrieval/index/index.ts';

/** A new folder with its index, which contains its first files. Both are removed when it is disposed. */
export class IndexedFolder implements AsyncDisposable {
  readonly root: string;
  readonly index: Index;
  readonly #base: string;

  private constructor(base: string, index: Index) {
    this.#base = base;
    this.root = join(base, 'folder');
    this.index = index;
  }

  static async create(files: Readonly<Record<string, string>>): Promise<IndexedFolder> {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-indexed-')));
    const index = await Index.open({ root: join(base, 'folder'), home: join(base, 'home') });
    const folder = new IndexedFolder(base, index);
    for (const [path, text] of Object.entries(files)) await folder.write(path, text);
    const listed = Object.keys(files).map(async (path) => {
      const { size, mtimeMs } = await stat(join(folder.root, path));
      return { path, size, mtimeMs };
    });
    await index.sync(await Promise.all(listed));
    return folder;
  }

  /** Writes a file without telling the index. */
  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true });
    await writeFile(join(this.root, path), text);
  }

  /** The paths of the first ten results, best first. */
  async found(query: string): Promise<readonly string[]> {
    return (await this.index.search(query, 10)).map(({ path }) => path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.index[Symbol.dispose]();
    await rm(this.#base, { recursive: true, force: true, maxRetries: 5 });
  }
}
