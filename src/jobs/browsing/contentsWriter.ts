import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { parseFileTime } from '../../workspace/files/fileTime.ts';
import type { WriteStep } from '../../workspace/extract/archivePlan.ts';
import type { IndexedFile } from './resultIndex.ts';

/** Writes the contents of files one after the other into one file, as far as they fit into a limit. */
export class ContentsWriter implements Disposable {
  readonly #files: IndexedFile[] = [];
  readonly #descriptor: number;
  readonly #mostBytes: number;
  #bytes = 0;
  #isStoring = false;

  /** @param path the file to create. */
  constructor(path: string, mostBytes: number) {
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#mostBytes = mostBytes;
  }

  /** @throws the system's error. */
  push(step: WriteStep): void {
    if (step.type === 'bytes') this.#append(step.bytes);
    if (step.type === 'hole' && this.#isStoring) this.#bytes += step.size;
    if (step.type !== 'file') return;
    const { type: _, ...file } = step;
    this.#isStoring = this.#bytes + file.size <= this.#mostBytes;
    this.#files.push({ ...file, offset: this.#isStoring ? this.#bytes : null });
  }

  /** Ends the contents. @param times of all files, in order, for those that have none of their own. */
  end(times: readonly string[] = []): readonly IndexedFile[] {
    ftruncateSync(this.#descriptor, this.#bytes);
    return this.#files.map((file, index) => {
      const mtime = file.mtime ?? parseFileTime(times[index] ?? '');
      return mtime === undefined ? file : { ...file, mtime };
    });
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #append(bytes: Buffer): void {
    if (!this.#isStoring) return;
    for (let written = 0; written < bytes.length; )
      written += writeSync(this.#descriptor, bytes, written, bytes.length - written, this.#bytes + written);
    this.#bytes += bytes.length;
  }
}
