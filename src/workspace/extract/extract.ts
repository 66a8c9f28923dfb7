import { constants, statSync } from 'node:fs';
import { access, mkdir, realpath, statfs } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type NameRules, namesOn } from '../files/nameRules.ts';
import { ArchivePlan, type PlacedEntry, type PlanLimits, type SkippedEntry, type WriteStep } from './archivePlan.ts';
import {
  type ArchiveSource,
  type ReadOptions,
  readExtractSteps,
  readTarSteps,
  type WriteSteps,
} from './archiveSteps.ts';
import { writeFailure } from '../files/fileWriting.ts';
import { removeMade } from '../files/madeFolder.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { discardStaged, makeStagingFolder, newStagingName } from './stagingFolder.ts';
import { StagingWriter } from './stagingWriter.ts';

export type { SkippedEntry } from './archivePlan.ts';
export { discardStaged } from './stagingFolder.ts';

/** A file that was unpacked. */
export type StagedFile = PlacedEntry;

export interface StagedArchive {
  /** Absolute path of the folder with the files, inside the target folder. */
  readonly staging: string;
  readonly entries: readonly StagedFile[];
  /** The SHA-256 of each entry, in lower-case hexadecimal; empty unless they were asked for. */
  readonly hashes: readonly string[];
  /** Links and special files, which are never created, and files whose names cannot be written here. */
  readonly skipped: readonly SkippedEntry[];
  readonly totalBytes: number;
}

export interface ArchiveLimits extends PlanLimits, Pick<ReadOptions, 'seconds'> {}

export interface StageOptions {
  readonly limits?: Partial<ArchiveLimits> | undefined;
  /** Name of the staging folder; a new one if absent. */
  readonly name?: string | undefined;
  /** Which names are valid; those of this system and of the folder's file system by default. */
  readonly rules?: NameRules | undefined;
  /** Whether the files are hashed, which takes half as long as writing them. */
  readonly isHashed?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with bytes of the archive, not of its contents. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** The default limit for the total size of the unpacked files. */
export const MOST_UNPACKED_BYTES: number = 20 * 2 ** 30;

export const DEFAULT_LIMITS: Omit<ArchiveLimits, 'raise'> = {
  totalBytes: MOST_UNPACKED_BYTES,
  entries: 1_000_000,
  folders: 500_000,
  depth: 256,
  components: 16_000_000,
  nameBytes: 128 * 2 ** 20,
  seconds: 3600,
};
/**
 * Unpacks an archive into a new staging folder inside `folder`, which is created if it is missing. Nothing else in `folder` changes.
 * Only regular files and their folders are created; links and special files are listed.
 *
 * @throws AppError `corrupt`, `refused`, `limit`, `no-space` or `conflict` with the reason, or the signal's reason. `folder` is then
 * unchanged.
 */
export async function stageArchive(
  archive: ArchiveSource,
  folder: string,
  { limits, onProgress, ...options }: StageOptions = {},
): Promise<StagedArchive> {
  return stageFrom(folder, limits, options, (plan, write, reading) =>
    readExtractSteps(archive, plan, { ...reading, onProgress }, write),
  );
}

/** The same for a tar stream, whose errors are passed on. */
export async function stageTar(
  tar: AsyncIterable<Buffer> | Iterable<Buffer>,
  folder: string,
  { limits, ...options }: Pick<StageOptions, 'limits' | 'name' | 'signal' | 'isHashed'> = {},
): Promise<StagedArchive> {
  return stageFrom(folder, limits, options, (plan, write, reading) => readTarSteps(tar, plan, reading, write));
}

async function stageFrom(
  folder: string,
  given: Partial<ArchiveLimits> | undefined,
  options: Pick<StageOptions, 'name' | 'signal' | 'rules' | 'isHashed'>,
  read: (plan: ArchivePlan, write: WriteSteps, reading: ReadOptions) => Promise<void>,
): Promise<StagedArchive> {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const { seconds, raise } = limits;
  const reading = { seconds, raise, signal: options.signal };
  options.signal?.throwIfAborted();
  const firstCreated = await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw writeFailure(error, folder);
  });
  try {
    return await stageInto(await realpath(folder), limits, options, (plan, write) => read(plan, write, reading));
  } catch (error) {
    if (firstCreated !== undefined) await removeMade(resolve(folder), firstCreated);
    throw writeFailure(error, folder);
  }
}

async function stageInto(
  folder: string,
  limits: ArchiveLimits,
  { name = newStagingName(), rules, isHashed = false }: Pick<StageOptions, 'name' | 'rules' | 'isHashed'>,
  read: (plan: ArchivePlan, write: WriteSteps) => Promise<void>,
): Promise<StagedArchive> {
  await access(folder, constants.W_OK);
  const { bavail, bsize } = await statfs(folder);
  const plan = new ArchivePlan(limits, bavail * bsize, rules ?? namesIn(folder));
  let target: { readonly staging: string; readonly writer: StagingWriter } | undefined;
  try {
    await read(plan, async (steps, yielder) => {
      target ??= open(folder, name, isHashed);
      await target.writer.write(steps, yielder);
    });
    target ??= open(folder, name, isHashed);
    const { staging, writer } = target;
    writer.setTimes(plan.times);
    const skipped = [...plan.skipped, ...writer.skipped];
    const { entries, hashes } = writer;
    return { staging, entries, hashes, skipped, totalBytes: plan.totalBytes };
  } catch (error) {
    if (target !== undefined) await discardStaged(target);
    throw error;
  } finally {
    target?.writer.dispose();
  }
}

/**
 * Writes files whose paths and sizes were checked, such as those of an index, into a new staging folder inside `folder`, as `stageArchive`.
 *
 * @param steps the steps to write each file.
 * @throws AppError `no-space`, the errors of `steps`, or the signal's reason. `folder` is then unchanged.
 */
export async function stageFiles(
  folder: string,
  steps: AsyncIterable<readonly WriteStep[]>,
  { name = newStagingName(), signal }: Pick<StageOptions, 'name' | 'signal'> = {},
): Promise<StagedArchive> {
  const target = open(await realpath(folder), name, false);
  const yielder = new Yielder(signal);
  try {
    for await (const some of steps) await target.writer.write(some, yielder);
    const { entries, hashes, skipped } = target.writer;
    const totalBytes = entries.reduce((sum, { size }) => sum + size, 0);
    target.writer.setTimes();
    return { staging: target.staging, entries, hashes, skipped, totalBytes };
  } catch (error) {
    await discardStaged(target);
    throw writeFailure(error, folder);
  } finally {
    target.writer.dispose();
  }
}

function open(
  folder: string,
  name: string,
  isHashed: boolean,
): { readonly staging: string; readonly writer: StagingWriter } {
  const { staging, folders } = makeStagingFolder(folder, name);
  return { staging, writer: new StagingWriter(folders, isHashed) };
}

/** The rules for names in a folder: its file system may hold names apart that the system usually takes for the same, or the reverse. */
function namesIn(folder: string): NameRules {
  const rules = namesOn();
  const name = basename(folder);
  const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
  if (other === name) return rules;
  const [one, twin] = [name, other].map((each) =>
    statSync(join(dirname(folder), each), { bigint: true, throwIfNoEntry: false }),
  );
  return { ...rules, isFolding: one !== undefined && one.ino === twin?.ino && one.dev === twin.dev };
}
