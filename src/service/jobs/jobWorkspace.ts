import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { bootIdentity } from '../../core/processes/processTree.ts';
import { discardStaged, type StagedArchive, stageArchive, stageTar } from '../../workspace/extract/extract.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import { isJoinedFrames, readFrames } from '../contents/keptFrames.ts';
import type { WaitingContents } from '../contents/waitingContents.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { parseRunnerSpec, type RunnerSpec } from '../jobFiles/runnerSpec.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import { type KeptWorkspace, UNWRITTEN } from '../store/jobs/workspaces.ts';

// A fixed name, so that what a killed service has written is found.
const STAGING = 'staging';

/**
 * Moves the unpacked files to their place, and writes what the job's runner needs. Nothing is flushed to disk, which would cost a
 * wait for each file: the archive that is stored with the job can recreate all of it.
 *
 * @param staged the files, which were hashed.
 */
export async function placeWorkspace(folder: JobFolder, staged: StagedArchive, spec: RunnerSpec): Promise<void> {
  await rename(staged.staging, folder.workspace);
  await discardStaged(staged);
  await writeFile(folder.spec, JSON.stringify(spec), { mode: 0o600 });
  const manifest = staged.entries.map(({ path, size }, index) => ({ path, size, sha256: staged.hashes[index] }));
  // Written last: whatever changes in the workspace after this was changed by the job.
  await writeFile(folder.manifest, JSON.stringify(manifest), { mode: 0o600 });
}

/** Moves the archive of a workspace that was written to the job's folder. It is durable once this resolves. */
export async function keepArchive(archive: string, folder: JobFolder, spec: RunnerSpec): Promise<KeptWorkspace> {
  await rename(archive, folder.archive);
  await syncFile(folder.archive);
  await syncFolder(folder.path);
  await syncFolder(dirname(folder.path));
  return { spec: JSON.stringify(spec), boot: bootIdentity(), archive: null };
}

/** A workspace that is written when the job starts: from its archive, or from its waiting contents if that is null. */
export function unwrittenWorkspace(spec: RunnerSpec, archive: Buffer | null): KeptWorkspace {
  return { spec: JSON.stringify(spec), boot: UNWRITTEN, archive };
}

export interface WorkspaceSources {
  readonly files: Pick<JobFiles, 'makeFolder' | 'requireThere'>;
  readonly store: Pick<Store, 'workspaces'>;
  readonly waiting: Pick<WaitingContents, 'has' | 'read'>;
}

/**
 * Writes the workspace of a job that has not started if that was not done yet, or the machine has rebooted since, because files may then be
 * truncated or missing. Can be interrupted and repeated.
 *
 * @throws AppError `missing` if the folder was removed after that, and those of `makeFolder`, `stageArchive`, `readFrames` or
 *   `WaitingContents.read`; the signal's reason.
 */
export async function prepareWorkspace(
  job: StoredJob,
  folder: JobFolder,
  { store, waiting, files }: WorkspaceSources,
  signal: AbortSignal,
): Promise<void> {
  const kept = store.workspaces.get(job.number);
  const boot = bootIdentity();
  if (kept === undefined || kept.boot === boot) {
    if (existsSync(folder.path)) return;
    files.requireThere(); // a file system that does not respond removes nothing
    throw new AppError(
      'missing',
      'The folder of the job was removed on the machine that runs jobs. Submit the job again.',
    );
  }
  files.makeFolder(job.id);
  await removeTree(join(folder.path, STAGING));
  const options = { name: STAGING, signal, isHashed: true };
  const tar = await tarOf(job, kept, waiting);
  const staged =
    tar === undefined
      ? await stageArchive(kept.archive ?? folder.archive, folder.path, options)
      : await stageTar(tar, folder.path, options);
  await removeTree(folder.workspace);
  await placeWorkspace(folder, staged, parseRunnerSpec(kept.spec));
  store.workspaces.setBoot(job.number, boot);
}

/** The tar stream of a submission by content; undefined if the archive was sent whole. */
async function tarOf(
  job: StoredJob,
  { archive }: KeptWorkspace,
  waiting: WorkspaceSources['waiting'],
): Promise<AsyncIterable<Buffer> | Iterable<Buffer> | undefined> {
  if (archive !== null) return isJoinedFrames(archive) ? readFrames(archive) : undefined;
  return (await waiting.has(job.id)) ? waiting.read(job) : undefined;
}
