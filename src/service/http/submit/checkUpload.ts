import { readFile, rm, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../../core/errors.ts';
import { readStart } from '../../../workspace/files/boundedRead.ts';
import { FIRST_LINE_BYTES } from '../../../workspace/scripts/shebang.ts';
import { noSpace } from '../../../workspace/extract/archivePlan.ts';
import { stageArchive, type SkippedEntry } from '../../../workspace/extract/extract.ts';
import { planArchive, planRuns, planTar, type TarRun } from '../../../workspace/extract/planTar.ts';
import { assembleArchive, joinFrames, readFrames } from '../../contents/keptFrames.ts';
import type { ContentStore } from '../../contents/contentStore.ts';
import type { KnownLists } from '../../contents/knownLists.ts';
import { DamagedPack, PackReader } from '../../contents/packReader.ts';
import { NAME_BYTES } from '../../../remote/protocol/contents.ts';
import { findContents, LackingContents, type SubmittedContents } from '../../contents/submittedContents.ts';
import type { WaitingContents } from '../../contents/waitingContents.ts';
import type { JobFiles } from '../../jobFiles/jobFiles.ts';
import type { RunnerSpec } from '../../jobFiles/runnerSpec.ts';
import { keepArchive, placeWorkspace, unwrittenWorkspace } from '../../jobs/jobWorkspace.ts';
import type { KeptWorkspace } from '../../store/jobs/workspaces.ts';
import { type TarEntry, TarReader, type TarSink } from '../../../workspace/archive/tarReader.ts';

/** Archives up to this size are stored in the database, where one flush serves many jobs. A file of its own needs three. */
export const MAX_STORED_BYTES: number = 256 * 1024;

export interface UploadContext {
  readonly account: string;
  /** The limit of this account. */
  readonly maxUploadBytes: number;
  readonly contents: Pick<ContentStore, 'read' | 'locate' | 'removePack'>;
  readonly waiting: Pick<WaitingContents, 'keep' | 'remove'>;
  readonly knownLists: KnownLists;
  readonly files: Pick<JobFiles, 'makeFolder'>;
  /** Of the disk of the jobs' files. */
  readonly freeBytes: () => Promise<number>;
  /** Returns why nothing more may be written to the disk; undefined if it may. */
  readonly diskRefusal: (bytes: number) => Promise<string | undefined>;
}

/** An upload whose files were checked. */
export interface CheckedUpload {
  /** `name` is the path that was sent, if it is another here. */
  readonly files: readonly { readonly path: string; readonly mode: number; readonly name?: string }[];
  readonly skipped: readonly SkippedEntry[];
  /** The first bytes of a file; undefined if nearly everything would have to be read for them. */
  readStart(path: string): Promise<Buffer | undefined>;
  /** Keeps what the workspace of the job is made from, which survives a power loss once this resolves. */
  keep(spec: RunnerSpec): Promise<KeptWorkspace>;
}

/**
 * Checks an archive. The workspace of a small one is written when the job starts. A large one is unpacked here, so that it is read once.
 *
 * @param received the archive, or the path of its file.
 * @throws as `stageArchive`.
 */
export async function checkArchive(
  received: string | Buffer,
  id: string,
  { files, freeBytes }: UploadContext,
  signal: AbortSignal,
): Promise<CheckedUpload> {
  if (typeof received === 'string' && (await stat(received)).size > MAX_STORED_BYTES) {
    const folder = files.makeFolder(id);
    const staged = await stageArchive(received, folder.path, { signal, isHashed: true });
    return {
      files: staged.entries,
      skipped: staged.skipped,
      readStart: (path) => readStart(join(staged.staging, path), FIRST_LINE_BYTES),
      keep: async (spec) => {
        await placeWorkspace(folder, staged, spec);
        return keepArchive(received, folder, spec);
      },
    };
  }
  const archive = typeof received === 'string' ? await readFile(received) : received;
  const planned = await planArchive(archive, await freeBytes(), signal);
  return {
    ...planned,
    readStart: (path) => startInArchive(archive, path),
    keep: async (spec) => unwrittenWorkspace(spec, archive),
  };
}

/**
 * Checks the contents of a submission. Few are read, because the database keeps them with the least effort. Of many, only what is outside
 * of files is read. The workspace is written when the job starts.
 *
 * @param received the names of its lists, or the path of the file with them.
 * @throws as `findContents` and `planTar`.
 */
export async function checkContents(
  received: string | Buffer,
  id: string,
  context: UploadContext,
  signal: AbortSignal,
): Promise<CheckedUpload> {
  const { account, maxUploadBytes: maxBytes, contents, waiting, diskRefusal, freeBytes } = context;
  const found = await findContents(contents, { account, submission: received, maxBytes, signal });
  const refusal = await diskRefusal(found.storedBytes);
  if (refusal !== undefined) throw new AppError('no-space', refusal);
  const free = await freeBytes();
  if (found.storedBytes > free) throw noSpace(free);
  if (found.packedBytes <= MAX_STORED_BYTES) {
    const frames: Buffer[] = [];
    const planned = await planTar(assembleArchive(contents, found, { account, frames, signal }), free, signal);
    const list = joinFrames(frames);
    return {
      ...planned,
      readStart: (path) => startInTar(readFrames(list), path),
      keep: async (spec) => unwrittenWorkspace(spec, list),
    };
  }
  const planned = await planContents(found, free, context, signal);
  return {
    ...planned,
    readStart: async () => undefined,
    keep: async (spec) => {
      await waiting.keep(id, found);
      if (typeof received === 'string') await rm(received);
      return unwrittenWorkspace(spec, null);
    },
  };
}

async function planContents(
  { lists, counts, pieces }: SubmittedContents,
  freeBytes: number,
  { account, contents, knownLists }: Pick<UploadContext, 'account' | 'contents' | 'knownLists'>,
  signal: AbortSignal,
) {
  await using reader = new PackReader();
  try {
    let end = 0;
    const runs = counts.map((count, index): TarRun => {
      const list = lists.subarray(index * NAME_BYTES, (index + 1) * NAME_BYTES);
      const filePieces = pieces.slice(end, (end += count));
      return {
        parts: filePieces.map((piece) => ({ size: piece.size, read: async () => (await reader.read(piece)).bytes })),
        known: (from) => knownLists.find(account, list, from),
        remember: (from, run) => knownLists.add(account, list, from, run),
      };
    });
    return await planRuns(runs, freeBytes, signal);
  } catch (error) {
    if (!(error instanceof DamagedPack)) throw error;
    await contents.removePack(account, error.path);
    throw new LackingContents();
  }
}

/** The first bytes of a file of a `.tar.gz` that was checked; empty without the file. */
function startInArchive(archive: Buffer, path: string): Promise<Buffer> {
  const tar = createGunzip();
  tar.end(archive);
  return startInTar(tar, path);
}

/** The same of a tar stream, which is read up to there. */
async function startInTar(tar: Iterable<Buffer> | AsyncIterable<Buffer>, path: string): Promise<Buffer> {
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
