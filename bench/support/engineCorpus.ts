import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Chunk } from '../../src/retrieval/chunks/chunk.ts';
import { readIndexedFile } from '../../src/retrieval/index/indexedFile.ts';

const SKIPPED = new Set(['.git', 'node_modules']);
// A sentence of a comment: words that a person might look for.
const SENTENCE = /(?:\/\/|#|\*) +((?:[A-Za-z]+ ){4,14}[a-z]+)\./g;
const EVERY = 3;

export interface CutFile {
  readonly path: string;
  readonly chunks: readonly Chunk[];
}

/** The files of some folders, read one after the other, and sentences of their comments as queries. */
export class EngineCorpus {
  readonly files: readonly { readonly root: string; readonly path: string }[];
  /** Of all files, some of which are not read. */
  readonly size: number;
  bytes = 0;
  chunks = 0;
  readonly #sentences: string[] = [];

  constructor(folders: readonly string[]) {
    this.files = folders.flatMap((root) => list(root).map((path) => ({ root, path })));
    this.size = this.files.reduce((sum, { root, path }) => sum + statSync(join(root, path)).size, 0);
  }

  /** Yields the chunks of each file, the files of each folder in the order of their paths. */
  *read(mostBytes = Infinity): Generator<CutFile, void> {
    [this.bytes, this.chunks] = [0, 0];
    this.#sentences.length = 0;
    for (const [at, { root, path }] of this.files.entries()) {
      if (this.bytes >= mostBytes) return;
      const file = readIndexedFile(root, path);
      if (file?.source.status !== 'indexed') continue;
      const { source, chunks } = file;
      this.bytes += source.size;
      this.chunks += chunks.length;
      if (at % EVERY === 0) {
        for (const { text } of chunks.slice(0, 3)) {
          for (const [, sentence = ''] of text.matchAll(SENTENCE)) this.#sentences.push(sentence);
        }
      }
      yield { path: `${root}/${path}`, chunks };
    }
  }

  /** Evenly over what was read, the same in every run. */
  queries(most: number): readonly string[] {
    const all = [...new Set(this.#sentences)];
    const step = Math.max(1, all.length / most);
    return Array.from({ length: Math.min(all.length, most) }, (_, at) => all[Math.floor(at * step)] ?? '');
  }
}

function list(root: string, folder = root): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry: Dirent) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : list(root, path);
    return entry.isFile() ? [relative(root, path).replaceAll('\\', '/')] : [];
  });
}
