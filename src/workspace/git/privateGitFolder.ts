import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { homedir } from 'node:os';
import { TemporaryFolder } from '../../core/processes/temporaryFolder.ts';
import { isRegularFile, readBounded } from '../files/boundedRead.ts';
import { entryExists } from '../files/folderEntries.ts';
import { type GitAnswer, type GitOptions, runGit } from './git.ts';
import { MOST_RULES_BYTES } from './ignoreRules.ts';
import type { Repository } from './repository.ts';

const MOST_INDEX_BYTES = 4e9;
const EXCLUDE = 'info/exclude';
// Names the commits of a shallow clone whose parents are missing; without it, git fails there.
const SHALLOW = 'shallow';
const MOST_SHALLOW_BYTES = 1e6;
// A split index consists of two files.
const SHARED_INDEX = /^sharedindex\.(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const MOST_CONFIGURATION_BYTES = 1 << 20;
const FORMATS = new Set(['sha1', 'sha256']);

// The only settings that are used: the additional ignore file, how names compare, and the hash format.
const TAKEN_KEYS = '^(core\\.(excludesfile|ignorecase|precomposeunicode)|extensions\\.objectformat)$';
const LIST = ['-z', '--type=path', '--get-regexp', TAKEN_KEYS];

interface GitSettings {
  /** Text of a configuration file with the other settings. */
  readonly configuration: string;
  /** Absolute path of the additional ignore file in the user's or the repository's configuration; a regular file within the size limit. */
  readonly excludesFile: string | undefined;
}

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

/**
 * Reads the few settings that affect how git lists files. Git itself parses them, in processes without a repository, and follows includes
 * only in the user's own configuration.
 *
 * @param neutral a git folder without configuration.
 * @throws the signal's reason, or AppError `limit` if git hangs.
 */
async function readGitSettings(
  neutral: string,
  { top, commonFolder }: Repository,
  signal?: AbortSignal,
): Promise<GitSettings> {
  const { HOME, USERPROFILE, XDG_CONFIG_HOME } = process.env;
  const variables = { HOME, USERPROFILE, XDG_CONFIG_HOME, GIT_DIR: neutral };
  const users = { ...variables, GIT_CONFIG_GLOBAL: undefined, GIT_CONFIG_NOSYSTEM: undefined };
  const file = join(commonFolder, 'config');
  const hasFile = (await readBounded(file, MOST_CONFIGURATION_BYTES)) !== undefined;
  const [ofUser, ofRepository] = await Promise.all([
    runGit(['config', '--includes', ...LIST], { cwd: neutral, variables: users, signal }),
    hasFile
      ? runGit(['config', '--file', file, '--no-includes', ...LIST], { cwd: neutral, variables, signal })
      : undefined,
  ]);
  const settings = toMap(ofRepository);
  const named = settings.get('core.excludesfile') ?? toMap(ofUser).get('core.excludesfile');
  const excludesFile = named === undefined ? join(XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'git/ignore') : named;
  const absolute = resolve(top, excludesFile);
  return {
    configuration: configurationOf(settings),
    excludesFile: (await isRegularFile(absolute, MOST_RULES_BYTES)) ? absolute : undefined,
  };
}

function toMap(answer: GitAnswer | undefined): ReadonlyMap<string, string> {
  return new Map(
    (answer?.items ?? []).map((item) => {
      const end = item.indexOf('\n');
      return end === -1 ? [item, 'true'] : [item.slice(0, end), item.slice(end + 1)];
    }),
  );
}

/** Only writes values from a fixed list, so that nothing else can be injected. */
function configurationOf(settings: ReadonlyMap<string, string>): string {
  const isOn = (key: string): boolean => /^(?:true|yes|on|1)$/i.test(settings.get(key) ?? '');
  const format = settings.get('extensions.objectformat')?.toLowerCase() ?? '';
  return [
    '[core]',
    `repositoryFormatVersion = ${FORMATS.has(format) ? 1 : 0}`,
    'bare = false',
    `ignoreCase = ${isOn('core.ignorecase')}`,
    `precomposeUnicode = ${isOn('core.precomposeunicode')}`,
    ...(FORMATS.has(format) ? ['[extensions]', `objectFormat = ${format}`] : []),
    '',
  ].join('\n');
}
