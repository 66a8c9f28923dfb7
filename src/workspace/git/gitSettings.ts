import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isRegularFile, readBounded } from '../files/boundedRead.ts';
import { type GitAnswer, runGit } from './git.ts';
import { MOST_RULES_BYTES } from './ignoreRules.ts';
import type { Repository } from './repository.ts';

const MOST_CONFIGURATION_BYTES = 1 << 20;
const FORMATS = new Set(['sha1', 'sha256']);
// The only settings that are used: the additional ignore file, how names compare, and the hash format.
const TAKEN_KEYS = '^(core\\.(excludesfile|ignorecase|precomposeunicode)|extensions\\.objectformat)$';
const LIST = ['-z', '--type=path', '--get-regexp', TAKEN_KEYS];

export interface GitSettings {
  /** Text of a configuration file with the other settings. */
  readonly configuration: string;
  /** Absolute path of the additional ignore file in the user's or the repository's configuration; a regular file within the size limit. */
  readonly excludesFile: string | undefined;
}

/**
 * Reads the few settings that affect how git lists files. Git itself parses them, in processes without a repository, and follows includes
 * only in the user's own configuration.
 *
 * @param neutral a git folder without configuration.
 * @throws the signal's reason, or AppError `limit` if git hangs.
 */
export async function readGitSettings(
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
