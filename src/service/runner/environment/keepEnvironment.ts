import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, rm, chmod, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { systemCode } from '../../../core/errors.ts';
import { writeAtomicallySync } from '../../../core/files/atomicFile.ts';
import { withFileLock } from '../../../core/files/fileLock.ts';
import { formatDuration } from '../../../core/text/format.ts';
import type { PackageList } from '../../../workspace/environments/packageList.ts';
import {
  type BuiltRecord,
  buildsOf,
  environmentPaths,
  type EnvironmentPaths,
  type FailedRecord,
  LOCK_STALE_MS,
  readEnvironmentRecord,
} from '../../folders/environmentFolder.ts';
import { removeTree } from '../../jobFiles/removeTree.ts';
import { setupLimitSeconds } from './environmentBuild.ts';
import { findProgram } from '../../../core/processes/findProgram.ts';

/** How a build ended. A job that waits for it fails with the same message, unless it was stopped: then that job builds. */
export type BuildResult<Ending> =
  | { readonly isBuilt: true }
  | { readonly isBuilt: false; readonly ending: Ending; readonly failure: string | undefined };

interface KeepRequest {
  /** The folder of the account's environments. */
  readonly account: string;
  readonly key: string;
  readonly list: PackageList;
  readonly jobId: string;
  readonly note: (sentence: string) => void;
  readonly signal: AbortSignal;
}

/** A kept environment, or how the attempt to build it ended. */
export type Kept<Ending> =
  | { readonly target: string }
  | { readonly ending: Ending }
  /** The build of another job, which this one waited for, failed. */
  | { readonly failure: string };

/**
 * Returns the complete environment with the key. Without one, builds it, or waits for the job that does. It is built where it stays,
 * because its programs contain its path, and its record is written last, so that a build that was killed counts for nothing.
 *
 * @throws the signal's reason, AppError `conflict` if another job builds for longer than builds may take.
 */
export async function keepEnvironment<Ending>(
  { account, key, list, jobId, note, signal }: KeepRequest,
  build: (target: string) => Promise<BuildResult<Ending>>,
): Promise<Kept<Ending>> {
  const paths = environmentPaths(account, key);
  mkdirSync(account, { recursive: true, mode: 0o700 });
  const waitedFor = new Set<string>();
  const onWait = (): void => {
    const builder = readText(paths.builder);
    if (builder === undefined || waitedFor.has(builder)) return;
    waitedFor.add(builder);
    note(`waiting for the job ${builder}, which is building the environment of ${list.name}`);
  };
  const work = async (): Promise<Kept<Ending>> => {
    mkdirSync(paths.users, { recursive: true, mode: 0o700 });
    const built = readEnvironmentRecord<BuiltRecord>(paths.built);
    if (built !== undefined) {
      markUsed(paths, jobId);
      note(
        `the environment of ${list.name} is ready, built by the job ${built.jobId} in ${formatDuration(built.seconds)}`,
      );
      return { target: paths.builtBy(built.jobId) };
    }
    const failed = readEnvironmentRecord<FailedRecord>(paths.failed);
    if (failed !== undefined && waitedFor.has(failed.jobId)) return { failure: failed.message };
    return buildNew(paths, { list, jobId, note }, build);
  };
  const maxWaitMs = 1000 * setupLimitSeconds({ requirements: list.name });
  return withFileLock(paths.lock, work, { staleMs: LOCK_STALE_MS, maxWaitMs, onWait, signal });
}

async function buildNew<Ending>(
  paths: EnvironmentPaths,
  { list, jobId, note }: Pick<KeepRequest, 'list' | 'jobId' | 'note'>,
  build: (target: string) => Promise<BuildResult<Ending>>,
): Promise<Kept<Ending>> {
  await removeUnfinished(paths);
  const target = paths.builtBy(jobId);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  writeFileSync(paths.builder, jobId, { mode: 0o600 });
  note(`building the environment of ${list.name}, which later jobs use too`);
  const startedAt = performance.now();
  try {
    const result = await build(target);
    if (!result.isBuilt) {
      const { ending, failure: message } = result;
      if (message !== undefined)
        writeAtomicallySync(paths.failed, JSON.stringify({ jobId, message } satisfies FailedRecord));
      return { ending };
    }
    const bytes = await sealEnvironment(target);
    const seconds = (performance.now() - startedAt) / 1000;
    const { tool, name, contents } = list;
    const record: BuiltRecord = { jobId, tool, name, contents, builtAt: Date.now(), seconds, bytes };
    markUsed(paths, jobId);
    writeAtomicallySync(paths.built, JSON.stringify(record), { isDurable: true });
    note(`the environment of ${list.name} is built, after ${formatDuration(seconds)}`);
    return { target };
  } finally {
    await rm(paths.builder, { force: true });
    if (readEnvironmentRecord(paths.built) === undefined) await removeTree(target);
  }
}

/** Removes what killed builds have left. */
async function removeUnfinished(paths: EnvironmentPaths): Promise<void> {
  const builds = buildsOf(paths);
  mkdirSync(builds, { recursive: true, mode: 0o700 });
  for (const name of await readdir(builds)) await removeTree(join(builds, name));
}

function markUsed({ users, lastUse }: EnvironmentPaths, jobId: string): void {
  writeFileSync(join(users, jobId), '', { mode: 0o600 });
  writeFileSync(lastUse, '', { mode: 0o600 });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const WRITE_BITS = 0o222;

/**
 * Makes an environment read-only, so that no job changes what later jobs use, and waits until it is on the disk, so that a power loss
 * leaves no part of it behind a record that says that it is complete.
 *
 * @returns its size in bytes.
 */
async function sealEnvironment(folder: string): Promise<number> {
  const bytes = await makeReadOnly(folder);
  const sync = process.platform === 'linux' ? findProgram('sync', process.env['PATH'] ?? '') : undefined;
  if (sync !== undefined) await promisify(execFile)(sync, ['--file-system', folder]);
  return bytes;
}

async function makeReadOnly(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await makeReadOnly(path);
    else if (entry.isFile()) {
      const { size, mode } = await lstat(path);
      bytes += size;
      await chmod(path, mode & ~WRITE_BITS);
    }
  }
  const { mode } = await lstat(folder);
  await chmod(folder, mode & ~WRITE_BITS);
  return bytes;
}
