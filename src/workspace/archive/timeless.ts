import { ZEROS } from '../files/holes.ts';
import { BLOCK_BYTES, encodeHeader, encodeTimes, paddingOf } from './tarFormat.ts';
import { type TarEntry, TarReader, type TarSink } from './tarReader.ts';

/**
 * Converts the tar stream of an archive of ours, or of one of its segments, to the one that is cut into pieces: that has no times beside the
 * files, only the list of all times after them. So a file has the same pieces whatever its time is.
 */
export class TimelessTar implements TarSink {
  readonly #reader = new TarReader(this);
  #parts: Buffer[] = [];
  #padding = 0;

  /** The next bytes of the converted stream, some of which are views of `chunk`. @throws as `TarReader`. */
  write(chunk: Buffer): readonly Buffer[] {
    this.#parts = [];
    this.#reader.write(chunk);
    return this.#parts;
  }

  /** The last bytes. */
  finish(): readonly Buffer[] {
    return [ZEROS.subarray(0, BLOCK_BYTES * (this.#reader.position?.emptyBlocks ?? 0))];
  }

  begin({ name, size, mode }: TarEntry): void {
    this.#parts.push(encodeHeader({ path: name, size, mode }));
    this.#padding = paddingOf(size);
  }

  data(bytes: Buffer): void {
    this.#parts.push(bytes);
  }

  end(): void {
    if (this.#padding > 0) this.#parts.push(ZEROS.subarray(0, this.#padding));
  }

  takeTimes(times: readonly string[]): void {
    this.#parts.push(encodeTimes(times));
  }
}
