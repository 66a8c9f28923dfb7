import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import { parseOwnJson } from '../../core/jsonFields.ts';
import type { PackageTool } from '../../workspace/environments/packageList.ts';

/** How long a lock is valid without a heartbeat. The runner that holds it may have been killed. */
export const LOCK_STALE_MS = 30_000;

/** A complete environment. */
export interface BuiltRecord {
  /** The job that built it, which names its folder. */
  readonly jobId: string;
  readonly tool: PackageTool;
  /** What people call the list of its packages. */
  readonly name: string;
  /** The hash of what it was built from, without the machine. */
  readonly contents: string;
  /** Milliseconds since the epoch. */
  readonly builtAt: number;
  readonly seconds: number;
  readonly bytes: number;
}

/** A build that failed, for jobs that waited for it. */
export interface FailedRecord {
  readonly jobId: string;
  readonly message: string;
}

/** The paths of one kept environment. */
export interface EnvironmentPaths {
  readonly folder: string;
  /** Beside the folder, so that it stays while the folder is deleted. */
  readonly lock: string;
  /** Its presence shows that a complete environment exists: a `BuiltRecord`. */
  readonly built: string;
  /** A `FailedRecord`. */
  readonly failed: string;
  /** The ID of the job that builds it. */
  readonly builder: string;
  /** Has a file for each job that may use it. */
  readonly users: string;
  /** Its time is that of the last use. */
  readonly lastUse: string;
  /** The environment that a job built, whose absolute path is in its programs. */
  readonly builtBy: (jobId: string) => string;
}

/** The folder of all environments, beside that of the jobs. */
export function environmentsIn(filesFolder: string): string {
  return join(filesFolder, 'environments');
}

const NAMES = { built: 'built.json', failed: 'failed.json', builder: 'builder', users: 'users', lastUse: 'last-use' };
const BUILDS = 'builds';

/** @param account the folder of the account's environments. @param key identifies the environment. */
export function environmentPaths(account: string, key: string): EnvironmentPaths {
  const folder = join(account, key);
  return {
    folder,
    lock: `${folder}.lock`,
    built: join(folder, NAMES.built),
    failed: join(folder, NAMES.failed),
    builder: join(folder, NAMES.builder),
    users: join(folder, NAMES.users),
    lastUse: join(folder, NAMES.lastUse),
    builtBy: (jobId) => join(folder, BUILDS, jobId),
  };
}

/** The folder of all that jobs built, complete or not. */
export function buildsOf({ folder }: EnvironmentPaths): string {
  return join(folder, BUILDS);
}

/** Undefined if the file does not exist, or is damaged, so that what it describes counts as missing. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type
export function readEnvironmentRecord<T>(path: string): T | undefined {
  try {
    return parseOwnJson<T>(readFileSync(path, 'utf8'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
