import { posix } from 'node:path';
import { createGunzip } from 'node:zlib';
import { type TarEntry, TarReader, type TarSink } from '../../../workspace/archive/tarReader.ts';
import { FIRST_LINE_BYTES } from '../../../workspace/files/shebang.ts';

/** The first bytes of a file of a `.tar.gz` that was checked; empty without the file. */
export function startInArchive(archive: Buffer, path: string): Promise<Buffer> {
  const tar = createGunzip();
  tar.end(archive);
  return startInTar(tar, path);
}

/** The same of a tar stream, which is read up to there. */
export async function startInTar(tar: Iterable<Buffer> | AsyncIterable<Buffer>, path: string): Promise<Buffer> {
  const start = new FileStart(path);
  const reader = new TarReader(start);
  for await (const chunk of tar) {
    reader.write(chunk);
    if (start.isComplete) break;
  }
  return Buffer.concat(start.parts);
}

/** Collects the first bytes of one file. */
class FileStart implements TarSink {
  readonly #path: string;
  readonly parts: Buffer[] = [];
  #bytes = 0;
  #isInside = false;
  isComplete = false;

  constructor(path: string) {
    this.#path = path;
  }

  begin({ name, type }: TarEntry): void {
    this.#isInside = !this.isComplete && type === 'file' && posix.normalize(name) === this.#path;
  }

  data(bytes: Buffer): void {
    if (!this.#isInside || this.isComplete) return;
    const part = Buffer.from(bytes.subarray(0, FIRST_LINE_BYTES - this.#bytes));
    this.parts.push(part);
    this.#bytes += part.length;
    this.isComplete = this.#bytes === FIRST_LINE_BYTES;
  }

  end(): void {
    this.isComplete ||= this.#isInside;
  }
}
