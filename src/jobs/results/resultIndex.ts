import type { PlacedEntry } from '../../workspace/extract/archivePlan.ts';

/** A file among the results of a job. */
export interface BrowsedFile extends PlacedEntry {
  /** Where its contents start in the cache; null if they are not stored there. */
  readonly offset: number | null;
}

/** A file or folder directly in a folder of the results. */
interface ResultChild {
  readonly path: string;
  readonly name: string;
  readonly isFolder: boolean;
  /** Number of files: 1 for a file. */
  readonly files: number;
  readonly bytes: number;
}

export interface ResultLevel {
  /** Folders first, each group by name. */
  readonly children: readonly ResultChild[];
  /** How many are not listed. */
  readonly more: number;
}

/**
 * The files of a job's results. Memory is in proportion to their paths: folders are found by binary search, so that listing a folder
 * takes time in proportion to what is directly in it.
 */
export class ResultIndex {
  /** Sorted by path. */
  readonly files: readonly BrowsedFile[];
  /** The bytes of all files before each position. */
  readonly #bytesBefore: Float64Array;
  /** By path in the job. */
  readonly #renamed: ReadonlyMap<string, BrowsedFile>;

  constructor(files: readonly BrowsedFile[]) {
    this.files = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    this.#renamed = new Map(files.flatMap((file) => (file.name === undefined ? [] : [[file.name, file]])));
    this.#bytesBefore = new Float64Array(files.length + 1);
    for (const [at, { size }] of this.files.entries()) this.#bytesBefore[at + 1] = (this.#bytesBefore[at] ?? 0) + size;
  }

  get bytes(): number {
    return this.#bytesBefore[this.files.length] ?? 0;
  }

  /** The file with this path, here or in the job. */
  find(path: string): BrowsedFile | undefined {
    const file = this.files[this.#firstFrom(path)];
    return file?.path === path ? file : this.#renamed.get(path);
  }

  /** The file with this path, or all files in the folder with this path; `''` is the folder of the job. */
  under(path: string): readonly BrowsedFile[] {
    const file = this.find(path);
    if (file !== undefined) return [file];
    const [start, end] = this.#rangeOf(path);
    return this.files.slice(start, end);
  }

  /** What is directly in a folder, at most `most`; `''` is the folder of the job. Empty if the folder does not exist. */
  level(folder: string, most: number): ResultLevel {
    const prefix = folder === '' ? '' : `${folder}/`;
    const folders: ResultChild[] = [];
    const files: ResultChild[] = [];
    let more = 0;
    for (let [at, end] = this.#rangeOf(folder); at < end; ) {
      const { path = '', size = 0 } = this.files[at] ?? {};
      const slash = path.indexOf('/', prefix.length);
      const isFolder = slash >= 0;
      const folderPath = isFolder ? path.slice(0, slash) : path;
      const next = isFolder ? this.#rangeOf(folderPath)[1] : at + 1;
      const bytes = isFolder ? (this.#bytesBefore[next] ?? 0) - (this.#bytesBefore[at] ?? 0) : size;
      if (folders.length + files.length >= most) more += 1;
      else {
        const child = { path: folderPath, name: folderPath.slice(prefix.length), isFolder, files: next - at, bytes };
        (isFolder ? folders : files).push(child);
      }
      at = next;
    }
    // `a.b/x` comes before `a/x`, but `a` before `a.b`.
    folders.sort((a, b) => (a.name < b.name ? -1 : 1));
    return { children: [...folders, ...files], more };
  }

  /** The positions of the files in a folder: from the first, up to but not including the second. */
  #rangeOf(folder: string): readonly [number, number] {
    if (folder === '') return [0, this.files.length];
    // `0` follows `/` in the order of characters.
    return [this.#firstFrom(`${folder}/`), this.#firstFrom(`${folder}0`)];
  }

  /** The position of the first file whose path is not less than this text. */
  #firstFrom(text: string): number {
    let low = 0;
    let high = this.files.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.files[middle]?.path ?? '') < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
