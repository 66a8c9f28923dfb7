import { createWriteStream, type WriteStream } from 'node:fs';
import { Writable } from 'node:stream';
import { messageOf } from '../../../core/errors.ts';

type Done = (error?: Error | null) => void;

/** Keeps what is written in memory, and in a file once it is more than `maxBytes`, because most uploads are too small to be worth a file. */
export class SpooledUpload extends Writable {
  readonly #maxBytes: number;
  readonly #placeFile: () => string;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #file: { readonly path: string; readonly stream: WriteStream } | undefined;

  /** @param placeFile returns the path of the file, which must not exist yet. Its errors are those of the stream. */
  constructor(maxBytes: number, placeFile: () => string) {
    super();
    this.#maxBytes = maxBytes;
    this.#placeFile = placeFile;
  }

  /** What was written, or the path of the file with it. Complete when the stream has finished. */
  get received(): Buffer | string {
    return this.#file?.path ?? Buffer.concat(this.#kept);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (this.#file !== undefined) {
      this.#file.stream.write(chunk, done);
      return;
    }
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#keptBytes <= this.#maxBytes) done();
    else this.#spill(done);
  }

  override _final(done: Done): void {
    if (this.#file === undefined) done();
    else this.#file.stream.end(done);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#file?.stream.destroy();
    done(error);
  }

  #spill(done: Done): void {
    try {
      const path = this.#placeFile();
      const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 });
      stream.on('error', () => {}); // each write reports its own
      this.#file = { path, stream };
      stream.write(Buffer.concat(this.#kept), done);
      this.#kept = [];
    } catch (error) {
      done(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
}
