import { createHash, type Hash, hash, randomUUID } from 'node:crypto';
import { open, rename, rm, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { processOwner } from '../../core/processes/processOwner.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { assertUnchanged, changed, readExactly, UnreadableFile } from '../files/fileReading.ts';
import { writeFailure } from '../files/fileWriting.ts';
import { GzipWriter } from '../archive/gzipWriter.ts';
import { DamagedArchive } from '../archive/inflateSegment.ts';
import { EarlierArchive, type EarlierPacking, partsToKeep } from './earlierArchive.ts';
import type { ManifestEntry } from './manifest.ts';
import { type FailedFile, type FileContent, readAhead } from './readAhead.ts';
import { SegmentedWriter } from './segmentedWriter.ts';
import { type ArchiveSegment, groupFiles } from './segments.ts';
import { findSecretInBytes, SecretScanner } from '../secrets/secretScanner.ts';
import type { Selection } from '../select/selection.ts';
import { BLOCK_BYTES, encodeTimes, paddingOf } from '../archive/tarFormat.ts';
import { type FileTime, fileTimeOf } from '../files/fileTime.ts';

export type { ManifestEntry } from './manifest.ts';

export interface PackedArchive {
  readonly path: string;
  /** Of the whole archive. */
  readonly bytes: number;
  readonly manifest: readonly ManifestEntry[];
  /** In order; empty unless they were asked for. */
  readonly segments: readonly ArchiveSegment[];
  /** The paths of files with segments that the archive refers to, by the names that these have in `ArchiveSegment.part`. */
  readonly parts: ReadonlyMap<string, string>;
}

export interface PackOptions {
  /** Whether the archive consists of segments, from which later archives of the folder can be packed. */
  readonly isSegmented?: boolean;
  /** An archive of the folder with segments. Those whose files have not changed are copied. */
  readonly earlier?: EarlierPacking | undefined;
  /** Whether the archive may refer to files of the earlier one in place of copies of what they have. */
  readonly mayRefer?: boolean;
  /** Skips the search for secrets, for content that is not a user's own folder. */
  readonly allowsSecrets?: boolean;
  /** Receives the bytes of the archive. Costs as much time as copying segments of an earlier one. */
  readonly digest?: Hash;
  /** Receives the tar stream, without what is copied from an earlier archive. Its bytes are valid during the call. */
  readonly onTar?: (bytes: Buffer) => void;
  /** Decides from the first bytes of a file whether it is rewritten. A large one is rewritten twice, as its size is needed first. */
  readonly rewriting?: Rewriting | undefined;
  /**
   * Receives a file that cannot be read, which is left out then; by default, it ends the packing. `onTar` and `digest` may have received the
   * beginning of that file. Not for archives with segments.
   */
  readonly onUnreadable?: (failed: Omit<FailedFile, 'type'>) => void;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/** @param beginning valid during the call. @returns what opens a rewriter of the file, which must do the same each time; undefined for none. */
export type Rewriting = (beginning: Buffer) => (() => ContentRewriter) | undefined;

/** Rewrites the contents of one file. */
export interface ContentRewriter {
  /** What follows in place of these bytes; valid until the next call. */
  push(bytes: Buffer): Buffer;
  end(): Buffer;
  readonly hasChanged: boolean;
}

const CHUNK_BYTES = 1 << 20;
const ZEROS = Buffer.alloc(2 * BLOCK_BYTES);

/**
 * Writes the selected files as one `.tar.gz` to `dest`, always the same bytes for the same tree, and returns the hash of each file. The
 * archive appears at `dest` only when it is complete. Memory use is constant.
 *
 * The packed bytes are searched for secrets, because files can change after they were selected.
 *
 * @throws AppError `refused` (a file that the user did not include contains a secret), `conflict` (a file changed while it was read),
 * `missing`, `permission` or `no-space`, each naming the file; the signal's reason. Nothing is left behind then.
 */
export async function packSelection(
  selection: Selection,
  dest: string,
  options: PackOptions = {},
): Promise<PackedArchive> {
  options.signal?.throwIfAborted();
  // Named after this process, so that another one can remove it if this one is killed.
  const partial = join(dirname(dest), `.${processOwner()}.${randomUUID()}.partial`);
  try {
    const archive = await writeArchive(selection, partial, options).catch(async (error: unknown) => {
      if (!(error instanceof DamagedArchive)) throw error;
      await rm(partial);
      return writeArchive(selection, partial, { ...options, earlier: undefined });
    });
    await rename(partial, dest);
    return { path: dest, ...archive };
  } catch (error) {
    await rm(partial, { force: true });
    throw writeFailure(error, dest);
  }
}

async function writeArchive(
  { root, files, totalBytes }: Selection,
  path: string,
  {
    signal,
    onProgress,
    allowsSecrets = false,
    isSegmented = false,
    earlier: packing,
    mayRefer,
    digest,
    onTar,
    rewriting,
    onUnreadable,
  }: PackOptions,
): Promise<Omit<PackedArchive, 'path'>> {
  await using earlier = packing && (await EarlierArchive.open(packing));
  const output = await open(path, 'ax', 0o600);
  try {
    let bytes = 0;
    const gzip = new GzipWriter(async (chunk) => {
      signal?.throwIfAborted();
      digest?.update(chunk);
      bytes += chunk.length;
      await output.writeFile(chunk);
    });
    let done = 0;
    const report = (count: number): void => {
      done += count;
      onProgress?.(Math.min(done, totalBytes), totalBytes);
    };
    const leaveOut = ({ file, error }: Omit<FailedFile, 'type'>): void => {
      if (onUnreadable === undefined) throw error;
      onUnreadable({ file, error });
    };
    const manifest: ManifestEntry[] = [];
    const times: FileTime[] = [];
    const segments = new SegmentedWriter(gzip, { isSegmented, onTar });
    const yielder = new Yielder(signal);
    const groups = [];
    for (const group of isSegmented ? groupFiles(files) : [files]) {
      if (yielder.isDue) await yielder.pause();
      groups.push({ group, found: earlier?.find(root, group) });
    }
    const keptParts = partsToKeep(mayRefer === true ? groups.flatMap(({ found }) => found ?? []) : []);
    const changed = groups.flatMap(({ group, found }) => (found === undefined ? group : []));
    const contents = readAhead(root, changed, signal);
    try {
      for (const { group, found } of groups) {
        if (earlier !== undefined && found !== undefined) {
          if (keptParts.has(found.part)) {
            await segments.refer(found.segment, found.part.name);
            bytes += found.segment.packedBytes;
          } else await segments.copy(found.segment, earlier.read(found));
          for (const entry of found.manifest) manifest.push(entry);
          for (const time of found.times) times.push(time);
          report(found.manifest.reduce((sum, { size }) => sum + size, 0));
          continue;
        }
        await segments.start(group.length);
        for (let count = 0; count < group.length; count += 1) {
          const { value: content } = await contents.next();
          if (!content) throw new Error('Fewer files were read than selected.');
          if (content.type === 'failed') {
            leaveOut(content);
            continue;
          }
          const isSearched = !allowsSecrets && content.file.mayHoldSecrets !== true;
          const isRemovable = onUnreadable !== undefined && content.type === 'open';
          if (isRemovable) await gzip.startSegment();
          try {
            manifest.push(await writeEntry(content, { segments, report, isSearched, rewriting, signal }));
          } catch (error) {
            if (!isRemovable || !(error instanceof UnreadableFile)) throw error;
            leaveOut({ file: content.file, error });
            bytes = await gzip.removeSegment();
            await truncate(path, bytes);
            continue;
          }
          times.push(fileTimeOf(content.stats));
          segments.addToKey(content);
        }
      }
    } finally {
      await contents.return();
    }
    await segments.start(0);
    await segments.write(encodeTimes(times));
    await segments.write(ZEROS);
    await gzip.end();
    const parts = new Map([...keptParts].map(({ name, path }) => [name, path]));
    return { bytes, manifest, segments: segments.end(), parts };
  } finally {
    await output.close();
  }
}

interface EntryOptions {
  readonly segments: SegmentedWriter;
  /** Called with the number of bytes of the file that were written. */
  readonly report: (bytes: number) => void;
  readonly isSearched: boolean;
  readonly rewriting: PackOptions['rewriting'];
  readonly signal: AbortSignal | undefined;
}

async function writeEntry(content: FileContent, options: EntryOptions): Promise<ManifestEntry> {
  const { path, mode, isLinked } = content.file;
  const isSmall = content.type === 'bytes';
  const { size, ...written } = isSmall
    ? await writeSmallFile(content, options)
    : await writeLargeFile(content, options);
  await options.segments.write(ZEROS.subarray(0, paddingOf(size)));
  return { path, size, mode, ...written, ...(isLinked && { isLinked }) };
}

type Written = Pick<ManifestEntry, 'size' | 'sha256' | 'isRewritten'>;

async function writeSmallFile(
  { file, stats, bytes: found }: Extract<FileContent, { type: 'bytes' }>,
  { segments, report, isSearched, rewriting }: EntryOptions,
): Promise<Written> {
  if (isSearched) refuseSecret(findSecretInBytes(found), file.path);
  const rewriter = rewriting?.(found)?.();
  const bytes = rewriter === undefined ? found : Buffer.concat([Buffer.from(rewriter.push(found)), rewriter.end()]);
  const size = bytes.length;
  await segments.writeHeader({ path: file.path, size, mode: file.mode, mtime: fileTimeOf(stats) });
  await segments.write(bytes);
  report(found.length);
  return { size, sha256: hash('sha256', bytes, 'hex'), ...(rewriter?.hasChanged === true && { isRewritten: true }) };
}

async function writeLargeFile(
  content: Extract<FileContent, { type: 'open' }>,
  { segments, report, isSearched, rewriting, signal }: EntryOptions,
): Promise<Written> {
  const { file, open, stats } = content;
  const rewritten = rewriting && (await rewrite(content, rewriting, signal));
  const size = rewritten?.size ?? open.size;
  await segments.writeHeader({ path: file.path, size, mode: file.mode, mtime: fileTimeOf(stats) });
  const scanner = isSearched ? new SecretScanner() : undefined;
  const digest = createHash('sha256');
  let written = 0;
  const write = async (bytes: Buffer): Promise<void> => {
    digest.update(bytes);
    written += bytes.length;
    await segments.write(bytes);
  };
  const rewriter = rewritten?.open();
  for await (const chunk of chunksOf(content, signal)) {
    refuseSecret(scanner?.scan(chunk), file.path);
    await write(rewriter?.push(chunk) ?? chunk);
    report(chunk.length);
  }
  if (rewriter !== undefined) await write(rewriter.end());
  await assertUnchanged(open, file.path);
  if (written !== size) throw changed(file.path);
  return { size, sha256: digest.digest('hex'), ...(rewriter && { isRewritten: true }) };
}

/** The size of a file that is rewritten, and what rewrites it; undefined if it is packed as it is. */
async function rewrite(
  content: Extract<FileContent, { type: 'open' }>,
  rewriting: Rewriting,
  signal: AbortSignal | undefined,
): Promise<{ readonly size: number; readonly open: () => ContentRewriter } | undefined> {
  let opened: { readonly rewriter: ContentRewriter; readonly open: () => ContentRewriter } | undefined;
  let size = 0;
  for await (const chunk of chunksOf(content, signal)) {
    if (opened === undefined) {
      const open = rewriting(chunk);
      if (open === undefined) return undefined;
      opened = { rewriter: open(), open };
    }
    size += opened.rewriter.push(chunk).length;
  }
  if (opened === undefined) return undefined;
  size += opened.rewriter.end().length;
  return opened.rewriter.hasChanged ? { size, open: opened.open } : undefined;
}

/** The bytes of a large file; each chunk is valid until the next one. */
async function* chunksOf(
  { file, open }: Extract<FileContent, { type: 'open' }>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let position = 0; position < open.size; position += CHUNK_BYTES) {
    signal?.throwIfAborted();
    const chunk = buffer.subarray(0, Math.min(CHUNK_BYTES, open.size - position));
    await readExactly(open, chunk, position, file.path);
    yield chunk;
  }
}

/** @throws AppError `refused` if a secret was found. */
function refuseSecret(secret: string | undefined, path: string): void {
  if (secret === undefined) return;
  throw new AppError(
    'refused',
    `${path} contains what looks like a secret (${secret}), so nothing was packed. Leave the file out, or include it explicitly to send it.`,
  );
}
