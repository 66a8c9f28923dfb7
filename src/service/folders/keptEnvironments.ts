import { hash } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileLock } from '../../core/files/fileLock.ts';
import { ifThere, statIfThere } from '../../core/files/ifThere.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import {
  type BuiltRecord,
  environmentPaths,
  environmentsIn,
  type EnvironmentPaths,
  LOCK_STALE_MS,
  readEnvironmentRecord,
} from './environmentFolder.ts';

const KEY = /^[0-9a-f]{64}$/;
const REMOVED = '.removed';
// Hexadecimal digits in the names of folders.
const ACCOUNT_LENGTH = 32;
const KEY_LENGTH = 16;
const HOUR_MS = 3_600_000;
// A build may take two hours. A build that is not complete after a day has failed.
const UNBUILT_MS = 24 * HOUR_MS;

/** An environment that jobs of an account can use. */
export interface StoredEnvironment extends BuiltRecord {
  /** Milliseconds since the epoch. */
  readonly lastUsedAt: number;
}

interface Found {
  readonly paths: EnvironmentPaths;
  readonly built: BuiltRecord | undefined;
  readonly lastUsedAt: number;
}

/**
 * The environments that jobs built for later jobs of the same account. Runners add them, under a lock for each; the service lists them
 * and deletes what was not used for longest. Accounts share nothing, so that no build of one runs in jobs of another.
 */
export class KeptEnvironments {
  readonly #root: string;
  readonly #maxBytes: number;

  /** @param filesFolder the folder that runners can reach. @param maxBytes what an account may keep; 0 keeps nothing. */
  constructor(filesFolder: string, maxBytes: number) {
    this.#root = environmentsIn(filesFolder);
    this.#maxBytes = maxBytes;
  }

  /**
   * The name of the folder of an account's environments; undefined if none are kept.
   *
   * @param restrictedKey the ID of a key that may do less than the account. What its jobs build runs in no jobs but its own.
   */
  nameOf(account: string, restrictedKey?: string): string | undefined {
    if (this.#maxBytes === 0) return undefined;
    const name = hash('sha256', account).slice(0, ACCOUNT_LENGTH);
    return restrictedKey === undefined ? name : `${name}-${hash('sha256', restrictedKey).slice(0, KEY_LENGTH)}`;
  }

  /** The complete environments of an account, or of a key as in `nameOf`, the newest first. */
  async list(account: string, restrictedKey?: string): Promise<readonly StoredEnvironment[]> {
    const name = this.nameOf(account, restrictedKey);
    const found = name === undefined ? [] : await findAll(join(this.#root, name));
    return found
      .flatMap(({ built, lastUsedAt }) => (built === undefined ? [] : [{ ...built, lastUsedAt }]))
      .toSorted((a, b) => b.builtAt - a.builtAt);
  }

  /**
   * Deletes environments of accounts that keep too much, those that were not used for longest first, and what failures left. Never
   * deletes one that a job may use.
   *
   * @param isActive whether a job has not ended.
   */
  async sweep(isActive: (jobId: string) => boolean): Promise<void> {
    const now = Date.now();
    // The keys of an account share its space.
    const accounts = Map.groupBy(await namesIn(this.#root), (name) => name.slice(0, ACCOUNT_LENGTH));
    for (const names of accounts.values()) {
      const folders = names.map((name) => join(this.#root, name));
      for (const folder of folders) {
        for (const name of await namesIn(folder)) if (name.endsWith(REMOVED)) await removeTree(join(folder, name));
      }
      const found = (await Promise.all(folders.map(findAll))).flat().toSorted((a, b) => b.lastUsedAt - a.lastUsedAt);
      let bytes = 0;
      for (const { paths, built, lastUsedAt } of found) {
        bytes += built?.bytes ?? 0;
        await forgetUsers(paths, isActive);
        const isExtra = built === undefined ? now - lastUsedAt > UNBUILT_MS : bytes > this.#maxBytes;
        if (isExtra && (await removeUnused(paths))) bytes -= built?.bytes ?? 0;
      }
    }
  }
}

async function findAll(account: string): Promise<readonly Found[]> {
  const keys = (await namesIn(account)).filter((name) => KEY.test(name));
  const found = await Promise.all(keys.map((key) => find(environmentPaths(account, key))));
  return found.filter((one) => one !== undefined);
}

/** Undefined if it was deleted meanwhile. */
async function find(paths: EnvironmentPaths): Promise<Found | undefined> {
  const built = readEnvironmentRecord<BuiltRecord>(paths.built);
  const stats = await statIfThere(built === undefined ? paths.folder : paths.lastUse);
  return stats && { paths, built, lastUsedAt: stats.mtimeMs };
}

async function forgetUsers({ users }: EnvironmentPaths, isActive: (jobId: string) => boolean): Promise<void> {
  for (const jobId of await namesIn(users)) if (!isActive(jobId)) await rm(join(users, jobId), { force: true });
}

/** Deletes an environment, unless a job uses it. @returns whether it was deleted. */
function removeUnused({ folder, lock, users }: EnvironmentPaths): Promise<boolean> {
  return withFileLock(
    lock,
    async () => {
      if ((await namesIn(users)).length > 0) return false;
      // It is renamed first, so that a crash leaves no partial environment.
      await rename(folder, `${folder}${REMOVED}`);
      await removeTree(`${folder}${REMOVED}`);
      return true;
    },
    { staleMs: LOCK_STALE_MS },
  );
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return ifThere(readdir(folder), []);
}
