import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { INDEX_VERSION } from '../segments/segmentFile.ts';
import type { NearChunk } from '../search/nearChunks.ts';

/** A chunk of a file. */
export type ChunkLocation = Omit<NearChunk, 'standardScore'>;

/** A file's chunks by the keys of their texts. */
interface LocatedFile {
  readonly hash: string;
  readonly keys: readonly string[];
}

/** The locations of a folder's chunk texts, stored so that no file must be read again to find them. */
export class ChunkLocations {
  readonly #files = new Map<string, LocatedFile>();
  readonly #locations = new Map<string, ChunkLocation[]>();
  #hasChanged = true;

  get chunkCount(): number {
    let count = 0;
    for (const { keys } of this.#files.values()) count += keys.length;
    return count;
  }

  get textCount(): number {
    return this.#locations.size;
  }

  get paths(): Iterable<string> {
    return this.#files.keys();
  }

  get keys(): Iterable<string> {
    return this.#locations.keys();
  }

  hasKey(key: string): boolean {
    return this.#locations.has(key);
  }

  /** Those without a location, each once. */
  newKeys(keys: readonly string[]): readonly string[] {
    return [...new Set(keys)].filter((key) => !this.#locations.has(key));
  }

  locationsOf(key: string): readonly ChunkLocation[] {
    return this.#locations.get(key) ?? [];
  }

  file(path: string): LocatedFile | undefined {
    return this.#files.get(path);
  }

  set(path: string, file: LocatedFile): void {
    this.delete(path);
    this.#hasChanged = true;
    this.#files.set(path, file);
    for (const [ordinal, key] of file.keys.entries()) {
      const locations = this.#locations.get(key) ?? [];
      locations.push({ path, hash: file.hash, ordinal });
      this.#locations.set(key, locations);
    }
  }

  delete(path: string): void {
    for (const key of this.#files.get(path)?.keys ?? []) {
      const left = this.locationsOf(key).filter((location) => location.path !== path);
      if (left.length === 0) this.#locations.delete(key);
      else this.#locations.set(key, left);
    }
    this.#hasChanged = this.#files.delete(path) || this.#hasChanged;
  }

  /** Writes the locations if they have changed. @throws the system's error. */
  async write(path: string): Promise<void> {
    if (!this.#hasChanged) return;
    const text = JSON.stringify([...this.#files].map(([file, { hash, keys }]) => [file, hash, keys.join('')]));
    await writeAtomically(path, `${checksumOf(text)}\n${text}`);
    this.#hasChanged = false;
  }

  /** The stored locations; empty if they are missing, damaged or of another index version, which may chunk differently. */
  static async read(path: string): Promise<ChunkLocations> {
    const locations = new ChunkLocations();
    const stored = await readFile(path, 'utf8').catch(() => '');
    const end = stored.indexOf('\n');
    const text = stored.slice(end + 1);
    if (end < 1 || stored.slice(0, end) !== String(checksumOf(text))) return locations;
    const files = parseOwnJson<[string, string, string][]>(text);
    for (const [file, hash, keys] of files) locations.set(file, { hash, keys: keys.match(/.{32}/g) ?? [] });
    locations.#hasChanged = false;
    return locations;
  }
}

function checksumOf(text: string): number {
  return crc32(text, INDEX_VERSION);
}
