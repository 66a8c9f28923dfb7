import { randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { AppError } from '../core/errors.ts';

/** Large enough that the cost of each turn through the streams is small, small enough for constant memory. */
const CHUNK_BYTES = 512 * 1024;

export interface Upload {
  readonly headers: Readonly<Record<string, string>>;
  /** Destroy it to release the file. */
  readonly body: Readable;
}

/**
 * The form of `POST /v1/jobs` (specification, section 4.1), streamed from disk: text field `meta`, file part `tarball`.
 *
 * The form is framed here rather than by a FormData, because a stream with a known length is what node-fetch and Node's
 * own fetch both send in constant memory. `meta` comes first, so that a service can refuse before it reads the file.
 *
 * @throws the system's error when the file cannot be opened, and an AppError `bad-input` when it is no file. The body
 * fails with an AppError `conflict` when the file changes while it is sent.
 */
export async function openUpload(
  path: string,
  meta: Readonly<Record<string, unknown>>,
  onProgress: ((bytes: number, total: number) => void) | undefined,
): Promise<Upload> {
  const file = await open(path, 'r');
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new AppError('bad-input', `${path} is not a file, so it cannot be sent.`);
    const boundary = `farwharf-${randomUUID()}`;
    const head = Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="meta"\r\n\r\n${JSON.stringify(meta)}\r\n` +
        `--${boundary}\r\nContent-Disposition: form-data; name="tarball"; filename="workspace.tar.gz"\r\n` +
        'Content-Type: application/gzip\r\n\r\n',
    );
    const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
    const parts = async function* (): AsyncGenerator<Buffer, void> {
      yield head;
      yield* readFile(file, path, onProgress);
      yield tail;
    };
    const body = Readable.from(parts(), { objectMode: false, highWaterMark: CHUNK_BYTES });
    body.once('close', () => void file.close());
    return {
      headers: {
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': String(head.length + stats.size + tail.length),
      },
      body,
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Yields exactly as many bytes as the file had at first: the length was promised in a header. The next piece is read
 * while the last is being sent, each into a buffer of its own, since the socket may still hold those before.
 */
async function* readFile(
  file: FileHandle,
  path: string,
  onProgress: ((bytes: number, total: number) => void) | undefined,
): AsyncGenerator<Buffer, void> {
  const { size, mtimeMs } = await file.stat();
  const readAt = async (start: number): Promise<Buffer> => {
    const length = Math.min(CHUNK_BYTES, size - start);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(length), 0, length, start);
    return buffer.subarray(0, bytesRead);
  };
  let sent = 0;
  let next = size > 0 ? readAt(0) : undefined;
  while (next !== undefined) {
    const chunk = await next;
    if (chunk.length === 0) throw changed(path);
    const end = sent + chunk.length;
    next = end < size ? readAt(end) : undefined;
    next?.catch(() => {}); // it is awaited in the next turn, which does not come when sending has failed
    yield chunk;
    sent = end;
    onProgress?.(sent, size);
  }
  const after = await file.stat();
  if (after.size !== size || after.mtimeMs !== mtimeMs) throw changed(path);
}

function changed(path: string): AppError {
  return new AppError(
    'conflict',
    `${path} changed while it was sent, so no job was started. Pack it again and resubmit.`,
  );
}
