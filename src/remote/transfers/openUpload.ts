import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { AppError } from '../../core/errors.ts';

/** Large enough that the overhead of the streams is small, small enough for constant memory. */
const PIECE_BYTES = 1 << 20;

// One piece is being sent, one waits in the stream, one is read ahead, and one is spare.
const RING = 4;

export interface Upload {
  readonly headers: Readonly<Record<string, string>>;
  /** Destroy it to release the file. */
  readonly body: Readable;
}

// Opening a pipe would wait until somebody writes to it. Windows has no such flag.
const SAFE_READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const FILES = {
  tarball: { name: 'workspace.tar.gz', type: 'application/gzip' },
  contents: { name: 'contents.bin', type: 'application/octet-stream' },
} as const;

interface UploadOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly part: 'tarball' | 'contents';
  /** The number of bytes at the start of the file that are skipped. */
  readonly offset: number;
  readonly onProgress: ((bytes: number, total: number) => void) | undefined;
  /** See `streamFile`. */
  readonly isReusing: boolean;
}

interface FilePieces {
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
 * The form of `POST /v1/jobs` (specification, section 4.1), streamed from disk: text field `meta`, file part `tarball`.
 *
 * Not a FormData, because node-fetch and Node's own fetch both send a stream of known length in constant memory. `meta` comes first,
 * so that a service can refuse before it reads the file.
 *
 * @throws the system's error if the file cannot be opened, AppError `bad-input` if it is not a regular file. The body fails with
 * AppError `conflict` if the file changes during the upload.
 */
export async function openUpload(
  path: string,
  meta: Readonly<Record<string, unknown>>,
  { headers, part, offset, onProgress, isReusing }: UploadOptions,
): Promise<Upload> {
  const file = await open(path, SAFE_READ);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new AppError('bad-input', `${path} is not a file, so it cannot be sent.`);
    if (offset > stats.size) throw changed(path);
    const boundary = `farwharf-${randomUUID()}`;
    const head = Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="meta"\r\n\r\n${JSON.stringify(meta)}\r\n` +
        `--${boundary}\r\nContent-Disposition: form-data; name="${part}"; filename="${FILES[part].name}"\r\n` +
        `Content-Type: ${FILES[part].type}\r\n\r\n`,
    );
    const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
    const body = streamFile(file, {
      head,
      tail,
      offset,
      size: stats.size,
      isReusing,
      onSent: (bytes) => onProgress?.(bytes, stats.size),
      changed: () => changed(path),
      onEnd: async () => {
        const after = await file.stat();
        if (after.size !== stats.size || after.mtimeMs !== stats.mtimeMs) throw changed(path);
      },
    });
    body.once('close', () => void file.close());
    return {
      headers: {
        ...headers,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': String(head.length + stats.size - offset + tail.length),
      },
      body,
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function changed(path: string): AppError {
  return new AppError('conflict', `${path} changed during the upload, so no job was started. Submit again.`);
}

/**
 * A stream of `head`, the bytes of the file from `offset` up to `size`, and `tail`. The next piece is read while the last is being sent.
 *
 * Its buffer holds one piece, so a pipe requests piece n + 2 after it has written piece n + 1, which it does after piece n was flushed
 * (`drain`). Therefore the memory of piece n can be reused then.
 */
function streamFile(file: FileHandle, pieces: FilePieces): Readable {
  const { head, tail, offset, size, isReusing } = pieces;
  const ring: Buffer[] = [];
  let read = offset;
  let position = offset;
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
    if (position > offset) pieces.onSent(position);
    const piece = await next;
    if (piece === undefined) {
      await pieces.onEnd();
      stream.push(tail);
      stream.push(null);
      return;
    }
    position += piece.length;
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
