import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Large enough that the cost of each turn through the streams is small, small enough for constant memory. */
const PIECE_BYTES = 1 << 20;
// One piece is being sent, one waits in the stream, one is read ahead; one more for safety.
const RING = 4;

export interface FilePieces {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Where in the file to begin. */
  readonly offset: number;
  /** Bytes of the whole file. */
  readonly size: number;
  /**
   * Whether the memory of a piece is used again once it was sent, which saves a third of an upload's time. Only for a
   * reader that takes the next piece after the last one has left the process, as a pipe into Node's own requests does.
   */
  readonly isReusing: boolean;
  /** Counts bytes of the file that were handed on, the last of which may not have left yet: never fewer than have left. */
  onSent(bytes: number): void;
  /** The error of a file that has not the bytes it had. */
  changed(): Error;
  /** Called after the last byte; throws when the file is not what it was. */
  onEnd(): Promise<void>;
}

/**
 * A stream of `head`, the bytes of the file from `offset` up to `size`, and `tail`. The next piece is read while the last is being sent.
 *
 * Its buffer takes one piece, so a pipe asks for piece n + 2 after it has written piece n + 1, which it does after piece n was
 * flushed (`drain`). That is what makes it safe to fill the memory of piece n again.
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
    next?.catch(() => {}); // it is awaited in the next turn, which does not come when sending has failed
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
