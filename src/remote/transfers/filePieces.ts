import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Large enough that the overhead of the streams is small, small enough for constant memory. */
const PIECE_BYTES = 1 << 20;
// One piece is being sent, one waits in the stream, one is read ahead, and one is spare.
const RING = 4;

export interface FilePieces {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** The first byte of the file to send. */
  readonly offset: number;
  readonly size: number;
  /**
   * Whether the memory of a piece is reused after it was sent, which saves a third of an upload's time. Only for a reader that takes
   * the next piece after the last one has left the process, as a pipe into Node's own requests does.
   */
  readonly isReusing: boolean;
  /** Called with the bytes of the file that were passed on: at least as many as have left the process. */
  onSent(bytes: number): void;
  /** The error if the file has become shorter. */
  changed(): Error;
  /** Called after the last byte; throws if the file has changed. */
  onEnd(): Promise<void>;
}

/**
 * A stream of `head`, the bytes of the file from `offset` up to `size`, and `tail`. The next piece is read while the last is being sent.
 *
 * Its buffer holds one piece, so a pipe requests piece n + 2 after it has written piece n + 1, which it does after piece n was flushed
 * (`drain`). Therefore the memory of piece n can be reused then.
 */
export function streamFile(file: FileHandle, pieces: FilePieces): Readable {
  const { head, tail, offset, size, isReusing } = pieces;
  const ring: Buffer[] = [];
  let read = offset;
  let sent = offset;
  let hasBegun = false;

  const readNext = async (): Promise<Buffer> => {
    const slot = Math.floor((read - offset) / PIECE_BYTES) % RING;
    const memory = (isReusing ? ring[slot] : undefined) ?? Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size));
    ring[slot] = memory;
    const start = read;
    const length = Math.min(PIECE_BYTES, size - start);
    read += length;
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await file.read(memory, filled, length - filled, start + filled);
      if (bytesRead === 0) throw pieces.changed();
      filled += bytesRead;
    }
    return memory.subarray(0, length);
  };
  let next: Promise<Buffer> | undefined;
  const readAhead = (): void => {
    next = read < size ? readNext() : undefined;
    next?.catch(() => {}); // awaited by the next `produce`, which is not called if sending fails
  };

  const produce = async (stream: Readable): Promise<void> => {
    if (!hasBegun) {
      hasBegun = true;
      readAhead();
      stream.push(head);
      return;
    }
    if (sent > offset) pieces.onSent(sent);
    const piece = await next;
    if (piece === undefined) {
      await pieces.onEnd();
      stream.push(tail);
      stream.push(null);
      return;
    }
    sent += piece.length;
    readAhead();
    stream.push(piece);
  };
  return new Readable({
    highWaterMark: 1,
    read() {
      produce(this).catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))));
    },
  });
}
