import { join, relative, sep } from 'node:path';
import { IgnoreRules, readRules } from '../git/ignoreRules.ts';
import type { Repository } from '../git/repository.ts';

const GITIGNORE = '.gitignore';

/**
 * Git's ignore rules for `root`, read without git: those of the repository that it lies in, from its top on, with
 * `.git/info/exclude`. `prefix` leads from the top to the root. Without a repository the rules start at the root itself, and
 * also where a repository further up ignores the root as a whole.
 */
export async function readRepositoryRules(
  root: string,
  repository: Repository | undefined,
): Promise<{ git: IgnoreRules; prefix: string }> {
  if (repository === undefined) return { git: new IgnoreRules(root, GITIGNORE), prefix: '' };
  const { top, commonFolder, isOwn } = repository;
  const first = isOwn ? await readRules(join(commonFolder, 'info/exclude'), '', '.git/info/exclude') : [];
  const git = new IgnoreRules(top, GITIGNORE, first);
  const folder = relative(top, root).split(sep).join('/');
  if (folder === '') return { git, prefix: '' };
  let above = '';
  for (const part of folder.split('/')) {
    const rules = await git.enter(above, true);
    above = above === '' ? part : `${above}/${part}`;
    if (rules.test(`${above}/`).isIgnored) return { git: new IgnoreRules(root, GITIGNORE), prefix: '' };
  }
  return { git, prefix: `${folder}/` };
}
