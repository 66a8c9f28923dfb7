import { lstat, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { IgnoreRules, readRules } from './ignoreRules.ts';

const GITIGNORE = '.gitignore';

/**
 * Git's ignore rules for `root`, read without git: those of the repository that it lies in, from its top on, with
 * `.git/info/exclude`. `prefix` leads from the top to the root. Without a repository the rules start at the root itself, and
 * also where a repository further up ignores the root as a whole.
 */
export async function readRepositoryRules(root: string): Promise<{ git: IgnoreRules; prefix: string }> {
  const top = await findTop(root);
  if (top === undefined) return { git: new IgnoreRules(root, GITIGNORE), prefix: '' };
  const git = new IgnoreRules(top, GITIGNORE, await readInfoExclude(join(top, '.git')));
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

async function findTop(root: string): Promise<string | undefined> {
  for (let folder = root; ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** In a linked work tree `.git` is a file that names its folder, which names the common one (gitrepository-layout(5)). */
async function readInfoExclude(dotGit: string): Promise<{ pattern: string; mark: string }[]> {
  const link = /^gitdir: (.+)$/m.exec(await readFile(dotGit, 'utf8').catch(() => ''))?.[1];
  const gitFolder = link === undefined ? dotGit : resolve(dirname(dotGit), link);
  const common = await readFile(join(gitFolder, 'commondir'), 'utf8').catch(() => '.');
  const file = resolve(gitFolder, common.trim(), 'info/exclude');
  return readRules(file, '', '.git/info/exclude');
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
