import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import type { ChunkPlace } from './meaning.ts';

/** A file's chunks by the keys of their texts. */
interface PlacedFile {
  readonly hash: string;
  readonly keys: readonly string[];
}

/** The locations of a folder's chunk texts, stored so that no file must be read again to find them. */
export class ChunkPlaces {
  readonly #files = new Map<string, PlacedFile>();
  readonly #places = new Map<string, ChunkPlace[]>();
  #hasChanged = true;

  get chunkCount(): number {
    let count = 0;
    for (const { keys } of this.#files.values()) count += keys.length;
    return count;
  }

  get textCount(): number {
    return this.#places.size;
  }

  get paths(): Iterable<string> {
    return this.#files.keys();
  }

  get keys(): Iterable<string> {
    return this.#places.keys();
  }

  hasKey(key: string): boolean {
    return this.#places.has(key);
  }

  placesOf(key: string): readonly ChunkPlace[] {
    return this.#places.get(key) ?? [];
  }

  file(path: string): PlacedFile | undefined {
    return this.#files.get(path);
  }

  set(path: string, file: PlacedFile): void {
    this.delete(path);
    this.#hasChanged = true;
    this.#files.set(path, file);
    for (const [ordinal, key] of file.keys.entries()) {
      const places = this.#places.get(key) ?? [];
      places.push({ path, hash: file.hash, ordinal });
      this.#places.set(key, places);
    }
  }

  delete(path: string): void {
    for (const key of this.#files.get(path)?.keys ?? []) {
      const left = this.placesOf(key).filter((place) => place.path !== path);
      if (left.length === 0) this.#places.delete(key);
      else this.#places.set(key, left);
    }
    this.#hasChanged = this.#files.delete(path) || this.#hasChanged;
  }

  /** Writes the locations if they have changed. @throws the system's error. */
  async write(path: string): Promise<void> {
    if (!this.#hasChanged) return;
    const text = JSON.stringify([...this.#files].map(([file, { hash, keys }]) => [file, hash, keys.join('')]));
    await writeAtomically(path, `${crc32(text)}\n${text}`);
    this.#hasChanged = false;
  }

  /** The stored locations; empty if they are missing or damaged. */
  static async read(path: string): Promise<ChunkPlaces> {
    const places = new ChunkPlaces();
    const stored = await readFile(path, 'utf8').catch(() => '');
    const end = stored.indexOf('\n');
    const text = stored.slice(end + 1);
    if (end < 1 || stored.slice(0, end) !== String(crc32(text))) return places;
    const files = JSON.parse(text) as [string, string, string][]; // the checksum proves that this program wrote it
    for (const [file, hash, keys] of files) places.set(file, { hash, keys: keys.match(/.{32}/g) ?? [] });
    places.#hasChanged = false;
    return places;
  }
}
