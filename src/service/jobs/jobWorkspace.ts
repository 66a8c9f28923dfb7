import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bootIdentity } from '../../core/processes/processTree.ts';
import { discardStaged, type StagedArchive, stageArchive, stageTar } from '../../workspace/extract/extract.ts';
import { syncFile, syncFolder } from '../../core/files/durableFiles.ts';
import { FRAMES_MAGIC, readFrames } from '../contents/keptFrames.ts';
import type { WaitingContents } from '../contents/waitingContents.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { parseRunnerSpec, type RunnerSpec } from '../jobFiles/runnerSpec.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';
import type { Store } from '../store/store.ts';
import type { KeptWorkspace } from '../store/jobs/workspaces.ts';

// Archives up to this size are stored in the database, where one flush serves many jobs. A file of its own needs three.
export const MAX_STORED_BYTES: number = 256 * 1024;
// Unlike any boot.
const UNWRITTEN = '';
// Always the same, so that what a killed service has written is found.
const STAGING = 'staging';

/**
 * Moves the unpacked files to their place, and writes what the job's runner needs. Nothing is flushed to disk, which would cost a
 * wait for each file: the archive that is stored with the job can recreate all of it.
 */
export async function placeWorkspace(folder: JobFolder, staged: StagedArchive, spec: RunnerSpec): Promise<void> {
  await rename(staged.staging, folder.workspace);
  await discardStaged(staged);
  await writeFile(folder.spec, JSON.stringify(spec), { mode: 0o600 });
  const manifest = staged.entries.map(({ path, size, sha256 }) => ({ path, size, sha256 }));
  // Written last: whatever changes in the workspace after this was changed by the job.
  await writeFile(folder.manifest, JSON.stringify(manifest), { mode: 0o600 });
}

/** Moves the archive to where it is stored with the job: in the result, or as a file that is durable once this resolves. */
export async function keepWorkspace(archive: string, folder: JobFolder, spec: RunnerSpec): Promise<KeptWorkspace> {
  const kept = { spec: JSON.stringify(spec), boot: bootIdentity() };
  if ((await stat(archive)).size <= MAX_STORED_BYTES) {
    const bytes = await readFile(archive);
    await rm(archive);
    return { ...kept, archive: bytes };
  }
  if (archive !== folder.archive) await rename(archive, folder.archive);
  await syncFile(folder.archive);
  await syncFolder(folder.path);
  await syncFolder(dirname(folder.path));
  return { ...kept, archive: null };
}

/** A workspace that is written when the job starts, from its waiting contents. */
export function unwrittenWorkspace(spec: RunnerSpec): KeptWorkspace {
  return { spec: JSON.stringify(spec), boot: UNWRITTEN, archive: null };
}

export interface WorkspaceSources {
  readonly files: Pick<JobFiles, 'makeFolder'>;
  readonly store: Pick<Store, 'workspaces'>;
  readonly waiting: Pick<WaitingContents, 'has' | 'read'>;
}

/**
 * Writes the workspace of a job that has not started if that was not done yet, or the machine has rebooted since, because files may then be
 * truncated or missing. Can be interrupted and repeated.
 *
 * @throws AppError of `makeFolder`, `stageArchive`, `readFrames` or `WaitingContents.read`; the signal's reason.
 */
export async function prepareWorkspace(
  job: StoredJob,
  folder: JobFolder,
  { store, waiting, files }: WorkspaceSources,
  signal: AbortSignal,
): Promise<void> {
  const kept = store.workspaces.get(job.number);
  const boot = bootIdentity();
  if (kept === undefined || kept.boot === boot) return;
  files.makeFolder(job.id);
  await removeTree(join(folder.path, STAGING));
  if (kept.archive !== null) await writeFile(folder.archive, kept.archive, { mode: 0o600 });
  const options = { name: STAGING, signal };
  const tar = await tarOf(job, folder, waiting);
  const staged =
    tar === undefined
      ? await stageArchive(folder.archive, folder.path, options)
      : await stageTar(tar, folder.path, options);
  await removeTree(folder.workspace);
  await placeWorkspace(folder, staged, parseRunnerSpec(kept.spec));
  if (kept.archive !== null) await rm(folder.archive);
  store.workspaces.setBoot(job.number, boot);
}

/** The tar stream of a submission by content; undefined if the archive was sent whole. */
async function tarOf(
  job: StoredJob,
  folder: JobFolder,
  waiting: WorkspaceSources['waiting'],
): Promise<AsyncIterable<Buffer> | undefined> {
  if (await waiting.has(job.id)) return waiting.read(job);
  return (await isFrames(folder.archive)) ? readFrames(folder.archive) : undefined;
}

/** Whether an archive consists of the pieces of a submission by content. */
async function isFrames(archive: string): Promise<boolean> {
  await using file = await open(archive, 'r');
  const head = Buffer.alloc(FRAMES_MAGIC.length);
  await file.read(head, 0, head.length, 0);
  return head.equals(FRAMES_MAGIC);
}
