import { rm } from 'node:fs/promises';
import { AppError } from '../../../core/errors.ts';
import { stageArchive, type StagedArchive, stageTar, type SkippedEntry } from '../../../workspace/extract/extract.ts';
import { planTar, type TarRun } from '../../../workspace/extract/planTar.ts';
import { assembleArchive } from '../../contents/assembleArchive.ts';
import type { ContentStore } from '../../contents/contentStore.ts';
import type { KnownLists } from '../../contents/knownLists.ts';
import { DamagedPack, PackReader } from '../../contents/packReader.ts';
import { NAME_BYTES } from '../../../remote/protocol/contents.ts';
import { findContents, LackingContents, type SubmittedContents } from '../../contents/submittedContents.ts';
import type { WaitingContents } from '../../contents/waitingContents.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import type { RunnerSpec } from '../../jobFiles/runnerSpec.ts';
import { keepWorkspace, MAX_STORED_BYTES, placeWorkspace, unwrittenWorkspace } from '../../jobs/jobWorkspace.ts';
import type { KeptWorkspace } from '../../store/jobs/workspaces.ts';

export interface CheckContext {
  readonly account: string;
  /** The limit of this account. */
  readonly maxUploadBytes: number;
  readonly contents: Pick<ContentStore, 'read' | 'locate' | 'removePack'>;
  readonly waiting: Pick<WaitingContents, 'keep' | 'remove'>;
  readonly knownLists: KnownLists;
  /** Returns why nothing more may be written to the disk; undefined if it may. */
  readonly diskRefusal: (bytes: number) => Promise<string | undefined>;
}

/** An upload whose files were checked. */
export interface CheckedUpload {
  readonly files: readonly { readonly path: string; readonly mode: number }[];
  readonly skipped: readonly SkippedEntry[];
  /** Keeps what the workspace of the job is made from, which survives a power loss once this resolves. */
  keep(spec: RunnerSpec): Promise<KeptWorkspace>;
}

/** Unpacks an archive. @throws as `stageArchive`. */
export async function unpackUpload(received: string, folder: JobFolder, signal: AbortSignal): Promise<CheckedUpload> {
  const staged = await stageArchive(received, folder.path, { signal });
  return unpacked(staged, received, folder);
}

/**
 * Checks the contents of a submission. Few are unpacked at once, because the database keeps them with the least effort. Of many, only what
 * is outside of files is read: the workspace is written when the job starts.
 *
 * @param received the path of the file with the names.
 * @throws as `findContents` and `planTar`.
 */
export async function checkContents(
  received: string,
  job: { readonly id: string; readonly folder: JobFolder },
  context: CheckContext,
  signal: AbortSignal,
): Promise<CheckedUpload> {
  const { account, maxUploadBytes: maxBytes, contents, waiting, diskRefusal } = context;
  const { id, folder } = job;
  const found = await findContents(contents, { account, submission: received, maxBytes });
  const refusal = await diskRefusal(found.bytes);
  if (refusal !== undefined) throw new AppError('no-space', refusal);
  if (found.packedBytes <= MAX_STORED_BYTES) {
    const { archive } = folder;
    const tar = assembleArchive(contents, found, { account, archive, signal });
    const staged = await stageTar(tar, folder.path, { signal });
    await rm(received);
    return unpacked(staged, archive, folder);
  }
  const { files, skipped } = await planContents(found, folder, context, signal);
  return {
    files,
    skipped,
    keep: async (spec) => {
      await waiting.keep(id, found);
      await rm(received);
      return unwrittenWorkspace(spec);
    },
  };
}

async function planContents(
  { lists, counts, pieces }: SubmittedContents,
  folder: JobFolder,
  { account, contents, knownLists }: Pick<CheckContext, 'account' | 'contents' | 'knownLists'>,
  signal: AbortSignal,
) {
  await using reader = new PackReader();
  try {
    let end = 0;
    const runs = counts.map((count, index): TarRun => {
      const list = lists.subarray(index * NAME_BYTES, (index + 1) * NAME_BYTES);
      const own = pieces.slice(end, (end += count));
      return {
        parts: own.map((piece) => ({ size: piece.size, read: async () => (await reader.read(piece)).bytes })),
        known: (from) => knownLists.find(account, list, from),
        remember: (from, run) => knownLists.add(account, list, from, run),
      };
    });
    return await planTar(runs, folder.path, signal);
  } catch (error) {
    if (!(error instanceof DamagedPack)) throw error;
    await contents.removePack(account, error.path);
    throw new LackingContents();
  }
}

function unpacked(staged: StagedArchive, archive: string, folder: JobFolder): CheckedUpload {
  return {
    files: staged.entries,
    skipped: staged.skipped,
    keep: async (spec) => {
      await placeWorkspace(folder, staged, spec);
      return keepWorkspace(archive, folder, spec);
    },
  };
}
