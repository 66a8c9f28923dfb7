import { createHash, hash, randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertUnchanged, readExactly } from './fileReading.ts';
import { writeFailure } from './fileWriting.ts';
import { GzipWriter } from './gzipWriter.ts';
import { type FileContent, readAhead } from './readAhead.ts';
import type { Selection } from './selection.ts';
import { BLOCK_BYTES, encodeHeader, paddingOf } from './tarFormat.ts';

export interface ManifestEntry {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

export interface PackedWorkspace {
  readonly path: string;
  readonly bytes: number;
  /** Of the archive, lower-case hexadecimal. */
  readonly sha256: string;
  readonly manifest: readonly ManifestEntry[];
}

export interface PackOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

const CHUNK_BYTES = 1 << 20;
const ZEROS = Buffer.alloc(2 * BLOCK_BYTES);

/**
 * Writes the selected files as one `.tar.gz` to `dest`, the same bytes for the same tree, and gives the hash of each file.
 *
 * The archive appears at `dest` only when it is whole. Memory is constant, whatever the sizes.
 *
 * @throws AppError `conflict` (a file changed while it was read), `missing`, `permission` or `no-space`, each naming the
 * file, or the signal's reason; nothing is left behind then.
 */
export async function packWorkspace(
  selection: Selection,
  dest: string,
  options: PackOptions = {},
): Promise<PackedWorkspace> {
  options.signal?.throwIfAborted();
  const partial = join(dirname(dest), `.${randomUUID()}.partial`);
  try {
    const packed = await writeArchive(selection, partial, options);
    await rename(partial, dest);
    return { path: dest, ...packed };
  } catch (error) {
    await rm(partial, { force: true });
    throw writeFailure(error, dest);
  }
}

async function writeArchive(
  { root, files, totalBytes }: Selection,
  path: string,
  { signal, onProgress }: PackOptions,
): Promise<Omit<PackedWorkspace, 'path'>> {
  const output = await open(path, 'wx', 0o600);
  try {
    const digest = createHash('sha256');
    let bytes = 0;
    const gzip = new GzipWriter(async (chunk) => {
      signal?.throwIfAborted();
      digest.update(chunk);
      bytes += chunk.length;
      await output.writeFile(chunk);
    });
    let done = 0;
    const write = async (chunk: Buffer): Promise<void> => {
      await gzip.write(chunk);
      done += chunk.length;
      onProgress?.(Math.min(done, totalBytes), totalBytes);
    };
    const manifest: ManifestEntry[] = [];
    for await (const content of readAhead(root, files, signal)) {
      manifest.push(await writeEntry(gzip, content, write, signal));
    }
    await gzip.write(ZEROS);
    await gzip.end();
    return { bytes, sha256: digest.digest('hex'), manifest };
  } finally {
    await output.close();
  }
}

async function writeEntry(
  gzip: GzipWriter,
  content: FileContent,
  write: (chunk: Buffer) => Promise<void>,
  signal?: AbortSignal,
): Promise<ManifestEntry> {
  const { path, mode } = content.file;
  const size = content.type === 'bytes' ? content.bytes.length : content.open.size;
  await gzip.write(encodeHeader({ path, size, mode }));
  let sha256: string;
  if (content.type === 'bytes') {
    sha256 = hash('sha256', content.bytes, 'hex');
    await write(content.bytes);
  } else {
    sha256 = await writeLargeFile(content, write, signal);
  }
  await gzip.write(ZEROS.subarray(0, paddingOf(size)));
  return { path, size, mode, sha256 };
}

async function writeLargeFile(
  { file, open }: Extract<FileContent, { type: 'open' }>,
  write: (chunk: Buffer) => Promise<void>,
  signal?: AbortSignal,
): Promise<string> {
  try {
    const digest = createHash('sha256');
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let position = 0; position < open.size; position += CHUNK_BYTES) {
      signal?.throwIfAborted();
      const chunk = buffer.subarray(0, Math.min(CHUNK_BYTES, open.size - position));
      await readExactly(open, chunk, position, file.path);
      digest.update(chunk);
      await write(chunk);
    }
    await assertUnchanged(open, file.path);
    return digest.digest('hex');
  } finally {
    await open.handle.close();
  }
}
