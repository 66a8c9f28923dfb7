import { closeSync, openSync, writeSync } from 'node:fs';
import type { WriteStep } from '../../workspace/extract/archivePlan.ts';
import type { IndexedFile } from './resultIndex.ts';

/** Writes the contents of files one after the other into one file, as far as they fit into a limit. */
export class ContentsWriter implements Disposable {
  readonly files: IndexedFile[] = [];
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
    if (step.type !== 'file') return;
    const { path, size, mode } = step;
    this.#isStoring = this.#bytes + size <= this.#mostBytes;
    this.files.push({ path, size, mode, offset: this.#isStoring ? this.#bytes : null });
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #append(bytes: Buffer): void {
    if (!this.#isStoring) return;
    for (let written = 0; written < bytes.length; )
      written += writeSync(this.#descriptor, bytes, written, bytes.length - written);
    this.#bytes += bytes.length;
  }
}
