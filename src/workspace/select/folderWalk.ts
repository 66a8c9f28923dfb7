import { join, posix } from 'node:path';
import { isAbort } from '../../core/errors.ts';
import { type Exclusion, judgeEntries, judgeFileName, judgeFolderName } from './exclusion.ts';
import type { IgnoreRules, RuleSet } from '../git/ignoreRules.ts';
import { type FolderEntry, listFolder } from '../files/folderEntries.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import type { PathScope } from './pathScope.ts';

/** The result of a walk, unordered. */
export interface Walked {
  readonly files: string[];
  readonly excluded: Exclusion[];
}

/** How the repositories inside a folder are listed. */
export interface InnerRepositories {
  /** Whether all of them are, without a rule that includes them. */
  readonly takesAll: boolean;
  /** What is sent of the one at this path, and what its own rules leave out. */
  list(path: string): Promise<Walked>;
}

export function innerRepository(path: string): Exclusion {
  return { path, type: 'directory', reason: 'git', rule: 'inner repository' };
}

/** Adds one by one: there can be more than the arguments of a call. */
export function addAll(target: Walked, { files, excluded }: Walked): void {
  for (const file of files) target.files.push(file);
  for (const exclusion of excluded) target.excluded.push(exclusion);
}

/** The rules of a walk. Git's rules may start above the root, at the top of the repository. */
export interface WalkRules {
  readonly git: IgnoreRules;
  /** Path from the repository to the root: `''`, or with a trailing `/`. */
  readonly prefix: string;
  readonly own: IgnoreRules;
}

/** How git's rules apply: normally; all content is ignored unless `.farwharfignore` includes it; or they are overruled by it. */
type Standing =
  | { readonly type: 'rules' }
  | { readonly type: 'ignored'; readonly by: Exclusion }
  | { readonly type: 'chosen' };

/** Finds the files in a folder that no rule excludes, without git. Links are listed as files. */
export class FolderWalk {
  readonly #root: string;
  readonly #rules: WalkRules;
  readonly #repositories: InnerRepositories;
  readonly #scope: PathScope | undefined;
  readonly #yielder: Yielder;

  /** With a `scope`, paths that it does not touch are skipped as if they did not exist. */
  constructor(
    root: string,
    rules: WalkRules,
    repositories: InnerRepositories,
    { scope, signal }: { scope?: PathScope | undefined; signal?: AbortSignal | undefined } = {},
  ) {
    this.#root = root;
    this.#rules = rules;
    this.#repositories = repositories;
    this.#scope = scope;
    this.#yielder = new Yielder(signal);
  }

  /** Walks `folder` (`''` is the root) with git's rules. */
  async walk(folder: string): Promise<Walked> {
    const walked: Walked = { files: [], excluded: [] };
    await this.#visit(folder, { type: 'rules' }, walked);
    return walked;
  }

  /** Walks a folder that git ignores for what `.farwharfignore` includes, or, if `isChosen`, for everything. Without a match, the result is one exclusion. */
  async walkIgnored(folder: string, by: Exclusion, isChosen = false): Promise<Walked> {
    const walked: Walked = { files: [], excluded: [] };
    await this.#visit(folder, isChosen ? { type: 'chosen' } : { type: 'ignored', by }, walked);
    return walked.files.length > 0 ? walked : { files: [], excluded: [by] };
  }

  async #visit(folder: string, standing: Standing, walked: Walked): Promise<void> {
    if (this.#yielder.isDue) await this.#yielder.pause();
    const entries = await this.#list(folder, walked);
    const names = new Set(entries.map(({ name }) => name));
    if (folder !== '' && names.has('.git')) {
      if (this.#repositories.takesAll || standing.type === 'chosen') {
        addAll(walked, await this.#repositories.list(folder));
      } else walked.excluded.push(innerRepository(folder));
      return;
    }
    const builtIn = folder === '' ? undefined : judgeEntries(names);
    if (builtIn !== undefined) {
      walked.excluded.push({ path: folder, type: 'directory', ...builtIn });
      return;
    }
    const git = await this.#rules.git.enter(
      `${this.#rules.prefix}${folder}`.replace(/\/$/, ''),
      names.has('.gitignore'),
    );
    const ownRules = await this.#rules.own.enter(folder, names.has('.farwharfignore'));
    for (const { name, isFolder } of entries) {
      if (this.#yielder.isDue) await this.#yielder.pause();
      const path = pathIn(folder, name);
      if (this.#scope?.touches(path) === false) continue;
      const verdict = this.#judge(path, isFolder, standing, git, ownRules);
      if (verdict.type === 'excluded') walked.excluded.push(verdict.by);
      else if (isFolder) await this.#enter(path, verdict.standing, walked);
      else if (verdict.standing.type === 'ignored') walked.excluded.push(verdict.standing.by);
      else walked.files.push(path);
    }
  }

  async #enter(path: string, standing: Standing, walked: Walked): Promise<void> {
    if (standing.type !== 'ignored') {
      await this.#visit(path, standing, walked);
      return;
    }
    addAll(walked, await this.walkIgnored(path, standing.by));
  }

  #judge(
    path: string,
    isFolder: boolean,
    standing: Standing,
    git: RuleSet,
    ownRules: RuleSet,
  ): { type: 'excluded'; by: Exclusion } | { type: 'open'; standing: Standing } {
    const type = isFolder ? 'directory' : 'file';
    const name = path.slice(path.lastIndexOf('/') + 1);
    const ruled = isFolder ? `${path}/` : path;
    const ownSays = ownRules.test(ruled);
    if (ownSays.isIgnored) {
      return { type: 'excluded', by: { path, type, reason: 'farwharfignore', rule: ownSays.rule, at: ownSays.at } };
    }
    let next: Standing = ownSays.isChosen ? { type: 'chosen' } : standing;
    if (next.type === 'rules') {
      const gitSays = git.test(`${this.#rules.prefix}${ruled}`);
      if (gitSays.isIgnored)
        next = {
          type: 'ignored',
          by: { path, type, reason: 'gitignore', rule: gitSays.rule, at: this.#place(gitSays.at) },
        };
    } else if (next.type === 'ignored') {
      next = { type: 'ignored', by: { ...next.by, path, type } };
    }
    if (next.type === 'ignored' && !(isFolder && ownRules.hasNegation)) return { type: 'excluded', by: next.by };
    const builtIn = isFolder ? judgeFolderName(name) : judgeFileName(path);
    if (builtIn !== undefined) return { type: 'excluded', by: { path, type, ...builtIn } };
    return { type: 'open', standing: next };
  }

  /** A location in the repository, relative to the root. */
  #place(at: string | undefined): string | undefined {
    return at === undefined ? undefined : posix.relative(this.#rules.prefix, at);
  }

  async #list(folder: string, walked: Walked): Promise<FolderEntry[]> {
    try {
      return await listFolder(join(this.#root, folder), this.#yielder);
    } catch (error) {
      if (isAbort(error)) throw error;
      walked.excluded.push({ path: folder, type: 'directory', reason: 'unreadable', rule: 'folder cannot be listed' });
      return [];
    }
  }
}

function pathIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
