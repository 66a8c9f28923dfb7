import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import { streamFile } from './filePieces.ts';

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
