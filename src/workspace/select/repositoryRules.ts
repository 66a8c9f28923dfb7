import { join, relative, sep } from 'node:path';
import { IgnoreRules, readRules } from '../git/ignoreRules.ts';
import type { Repository } from '../git/repository.ts';

const GITIGNORE = '.gitignore';

/**
 * Git's ignore rules for `root`, read without git: those of its repository from the top down, and `.git/info/exclude`. `prefix` is the
 * path from the top to the root. The rules start at the root itself if there is no repository, or if the repository ignores the root.
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
