import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { TemporaryFolder } from '../../core/processes/temporaryFolder.ts';
import { isRegularFile, readBounded } from '../files/boundedRead.ts';
import { entryExists } from '../files/folderEntries.ts';
import { type GitAnswer, type GitOptions, runGit } from './git.ts';
import { readGitSettings } from './gitSettings.ts';
import { MOST_RULES_BYTES } from './ignoreRules.ts';
import type { Repository } from './repository.ts';

const MOST_INDEX_BYTES = 4e9;
const EXCLUDE = 'info/exclude';
// Names the commits of a shallow clone whose parents are missing; without it, git fails there.
const SHALLOW = 'shallow';
const MOST_SHALLOW_BYTES = 1e6;
// A split index consists of two files.
const SHARED_INDEX = /^sharedindex\.(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * A git folder of our own that replaces a repository's while its files are listed. Git sees the repository's index, `info/exclude` and
 * objects, but our own configuration, so that no setting of the repository, known or unknown, has any effect.
 */
export class PrivateGitFolder implements AsyncDisposable {
  readonly #folder: TemporaryFolder;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #excludesFile: string;

  private constructor(folder: TemporaryFolder, variables: Readonly<Record<string, string>>, excludesFile: string) {
    this.#folder = folder;
    this.#variables = variables;
    this.#excludesFile = excludesFile;
  }

  /**
   * Undefined if the index is not a regular file.
   *
   * @throws the signal's reason, or AppError `limit` if git hangs.
   */
  static async create(repository: Repository, signal?: AbortSignal): Promise<PrivateGitFolder | undefined> {
    const { top, gitFolder } = repository;
    const index = join(gitFolder, 'index');
    if ((await entryExists(index)) && !(await isRegularFile(index, MOST_INDEX_BYTES))) return undefined;
    const temporary = await TemporaryFolder.create('git-');
    const folder = temporary.path;
    try {
      const { excludesFile } = await fill(folder, repository, signal);
      const variables = {
        HOME: folder,
        XDG_CONFIG_HOME: folder,
        GIT_DIR: folder,
        GIT_WORK_TREE: top,
        GIT_INDEX_FILE: index,
        GIT_OBJECT_DIRECTORY: await objectsOf(repository, folder),
      };
      return new PrivateGitFolder(temporary, variables, excludesFile ?? '');
    } catch (error) {
      await temporary[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs a git command in `folder` of the work tree. Results and errors are those of `runGit`. */
  run(
    folder: string,
    argv: readonly string[],
    options: Pick<GitOptions, 'input' | 'onItem' | 'signal'> = {},
  ): Promise<GitAnswer | undefined> {
    return runGit(['-C', folder, '-c', `core.excludesFile=${this.#excludesFile}`, ...argv], {
      cwd: this.#folder.path,
      variables: this.#variables,
      ...options,
    });
  }

  /** The name in the repository of a file that git reported. */
  originalName(source: string): string {
    return resolve(source) === join(this.#folder.path, EXCLUDE) ? `.git/${EXCLUDE}` : source;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}

async function fill(folder: string, repository: Repository, signal?: AbortSignal) {
  await Promise.all(['objects', 'refs', 'info'].map((name) => mkdir(join(folder, name))));
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(folder, 'config'), '');
  const settings = await readGitSettings(folder, repository, signal);
  await writeFile(join(folder, 'config'), settings.configuration);
  const rules = await readBounded(join(repository.commonFolder, EXCLUDE), MOST_RULES_BYTES);
  if (rules !== undefined) await writeFile(join(folder, EXCLUDE), rules);
  const shallow = await readBounded(join(repository.commonFolder, SHALLOW), MOST_SHALLOW_BYTES);
  if (shallow !== undefined) await writeFile(join(folder, SHALLOW), shallow);
  for (const name of await readdir(repository.gitFolder)) {
    const file = join(repository.gitFolder, name);
    if (SHARED_INDEX.test(name) && (await isRegularFile(file, MOST_INDEX_BYTES)))
      await copyFile(file, join(folder, name));
  }
  return settings;
}

/** The repository's objects; none if it refers to other object stores, which may be anywhere. */
async function objectsOf({ commonFolder }: Repository, folder: string): Promise<string> {
  const objects = join(commonFolder, 'objects');
  return (await entryExists(join(objects, 'info/alternates'))) ? join(folder, 'objects') : objects;
}
