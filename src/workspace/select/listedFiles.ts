import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbort } from '../../core/errors.ts';
import { type Exclusion, judgeEntries, judgeFileName, judgeFolderName } from './exclusion.ts';
import { type FolderEntry, listFolder } from '../files/folderEntries.ts';
import { addAll, type FolderWalk, type InnerRepositories, innerRepository, type Walked } from './folderWalk.ts';
import type { GitListing } from './gitListing.ts';
import type { IgnoreRules, RuleSet } from '../git/ignoreRules.ts';
import { Yielder } from '../../core/processes/yielder.ts';

interface Folder {
  /** The outermost excluded folder: this one or one above. */
  readonly exclusion: Exclusion | undefined;
  readonly rules: RuleSet;
  /** The names of the folders in it. Git lists no folders but submodules. */
  readonly folders: ReadonlySet<string>;
}

/** Applies our own rules to git's list. The result has the same form as a walk's. */
export class ListedFiles {
  readonly #root: string;
  readonly #own: IgnoreRules;
  readonly #walk: FolderWalk;
  readonly #repositories: InnerRepositories;
  readonly #folders = new Map<string, Folder>();
  readonly #found: Walked = { files: [], excluded: [] };
  readonly #yielder: Yielder;

  constructor(
    root: string,
    { own, walk, repositories }: { own: IgnoreRules; walk: FolderWalk; repositories: InnerRepositories },
    signal?: AbortSignal,
  ) {
    this.#root = root;
    this.#own = own;
    this.#walk = walk;
    this.#repositories = repositories;
    this.#yielder = new Yielder(signal);
  }

  async refine(listing: GitListing): Promise<Walked> {
    const { rules } = await this.#folder('');
    for (const path of listing.paths) {
      if (this.#yielder.isDue) await this.#yielder.pause();
      const slash = path.lastIndexOf('/');
      const parent = slash === -1 ? '' : path.slice(0, slash);
      const folder = this.#folders.get(parent) ?? (await this.#folder(parent));
      if (folder.exclusion !== undefined) continue;
      if (folder.folders.has(path.slice(slash + 1))) await this.#judgeSubmodule(path, folder.rules);
      else this.#judgeFile(path, folder.rules);
    }
    for (const exclusion of listing.excluded) {
      if (this.#yielder.isDue) await this.#yielder.pause();
      await this.#reconsider(exclusion, rules.hasNegation);
    }
    return this.#found;
  }

  #judgeFile(path: string, rules: RuleSet): void {
    const ownSays = rules.test(path);
    const builtIn = judgeFileName(path);
    if (ownSays.isIgnored) {
      this.#found.excluded.push({ path, type: 'file', reason: 'farwharfignore', rule: ownSays.rule, at: ownSays.at });
    } else if (builtIn === undefined) this.#found.files.push(path);
    else this.#found.excluded.push({ path, type: 'file', ...builtIn });
  }

  async #judgeSubmodule(path: string, rules: RuleSet): Promise<void> {
    const entries = await this.#list(path);
    if (entries.some(({ name }) => name === '.git')) await this.#judgeRepository(path, rules);
    else if (entries.length === 0) {
      this.#found.excluded.push({ path, type: 'directory', reason: 'git', rule: 'submodule that is not checked out' });
    }
    // Otherwise a folder has replaced a tracked file. Git lists its files too.
  }

  async #judgeRepository(path: string, rules: RuleSet): Promise<void> {
    const ownSays = rules.test(`${path}/`);
    if (ownSays.isIgnored) {
      const { rule, at } = ownSays;
      this.#found.excluded.push({ path, type: 'directory', reason: 'farwharfignore', rule, at });
    } else if (this.#repositories.takesAll || ownSays.isChosen) {
      addAll(this.#found, await this.#repositories.list(path));
    } else this.#found.excluded.push(innerRepository(path));
  }

  /** Walks what git ignores only if `.farwharfignore` might include something in it. */
  async #reconsider(exclusion: Exclusion, hasNegation: boolean): Promise<void> {
    const { path, type, reason } = exclusion;
    const isRepository = reason === 'git';
    if (!isRepository && (reason !== 'gitignore' || !hasNegation)) {
      this.#found.excluded.push(exclusion);
      return;
    }
    const slash = path.lastIndexOf('/');
    const folder = await this.#folder(slash === -1 ? '' : path.slice(0, slash));
    if (folder.exclusion !== undefined) return;
    if (isRepository) {
      await this.#judgeRepository(path, folder.rules);
      return;
    }
    const isChosen = folder.rules.test(type === 'directory' ? `${path}/` : path).isChosen;
    if (type === 'file') {
      if (isChosen) this.#judgeFile(path, folder.rules);
      else this.#found.excluded.push(exclusion);
      return;
    }
    addAll(this.#found, await this.#walk.walkIgnored(path, exclusion, isChosen));
  }

  async #folder(path: string): Promise<Folder> {
    const cached = this.#folders.get(path);
    if (cached !== undefined) return cached;
    const slash = path.lastIndexOf('/');
    const above = path === '' ? undefined : await this.#folder(slash === -1 ? '' : path.slice(0, slash));
    const folder = above?.exclusion === undefined ? await this.#judgeFolder(path, above?.rules) : above;
    this.#folders.set(path, folder);
    return folder;
  }

  async #judgeFolder(path: string, above: RuleSet | undefined): Promise<Folder> {
    const entries = await this.#list(path);
    const names = new Set(entries.map(({ name }) => name));
    const rules = await this.#own.enter(path, names.has('.farwharfignore'));
    const exclusion = path === '' ? undefined : judgeListedFolder(path, names, above);
    if (exclusion !== undefined) this.#found.excluded.push(exclusion);
    else {
      // Git does not list pipes, sockets and devices.
      for (const entry of entries) {
        if (!entry.isSpecial) continue;
        const name = path === '' ? entry.name : `${path}/${entry.name}`;
        this.#found.excluded.push({ path: name, type: 'file', reason: 'special', rule: 'not a regular file' });
      }
      if (path === '' && names.has('.git')) {
        const type = entries.find(({ name }) => name === '.git')?.isFolder ? 'directory' : 'file';
        this.#found.excluded.push({ path: '.git', type, reason: 'git', rule: '.git' });
      }
    }
    return { exclusion, rules, folders: new Set(entries.flatMap(({ name, isFolder }) => (isFolder ? name : []))) };
  }

  async #list(path: string): Promise<FolderEntry[]> {
    try {
      const absolute = join(this.#root, path);
      // Git lists tracked files behind a link that replaced a folder.
      if (path !== '' && (await lstat(absolute)).isSymbolicLink()) return [];
      return await listFolder(absolute, this.#yielder);
    } catch (error) {
      if (isAbort(error)) throw error;
      return []; // its files will be missing or unreadable one by one
    }
  }
}

function judgeListedFolder(
  path: string,
  names: ReadonlySet<string>,
  above: RuleSet | undefined,
): Exclusion | undefined {
  const ownSays = above?.test(`${path}/`);
  if (ownSays?.isIgnored) {
    return { path, type: 'directory', reason: 'farwharfignore', rule: ownSays.rule, at: ownSays.at };
  }
  const builtIn = judgeFolderName(path.slice(path.lastIndexOf('/') + 1)) ?? judgeEntries(names);
  return builtIn && { path, type: 'directory', ...builtIn };
}
