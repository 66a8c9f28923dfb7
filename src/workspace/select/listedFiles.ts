import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbort } from '../../core/errors.ts';
import { type Exclusion, judgeEntries, judgeFileName, judgeFolderName } from './exclusion.ts';
import { type FolderEntry, listFolder } from '../files/folderEntries.ts';
import type { FolderWalk, Walked } from './folderWalk.ts';
import type { GitListing } from './gitListing.ts';
import type { IgnoreRules, RuleSet } from '../git/ignoreRules.ts';
import { Yielder } from '../../core/processes/yielder.ts';

interface Folder {
  /** The outermost excluded folder: this one or one above. */
  readonly exclusion: Exclusion | undefined;
  readonly rules: RuleSet;
}

/** Applies our own rules to git's list. The result has the same form as a walk's. */
export class ListedFiles {
  readonly #root: string;
  readonly #own: IgnoreRules;
  readonly #walk: FolderWalk;
  readonly #folders = new Map<string, Folder>();
  readonly #found: Walked = { files: [], excluded: [] };
  readonly #yielder: Yielder;

  constructor(root: string, own: IgnoreRules, walk: FolderWalk, signal?: AbortSignal) {
    this.#root = root;
    this.#own = own;
    this.#walk = walk;
    this.#yielder = new Yielder(signal);
  }

  async refine(listing: GitListing): Promise<Walked> {
    const { rules } = await this.#folder('');
    for (const path of listing.paths) {
      if (this.#yielder.isDue) await this.#yielder.pause();
      const slash = path.lastIndexOf('/');
      const parent = slash === -1 ? '' : path.slice(0, slash);
      const folder = this.#folders.get(parent) ?? (await this.#folder(parent));
      if (folder.exclusion === undefined) this.#judgeFile(path, folder.rules);
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

  /** Walks what git ignores only if `.farwharfignore` might include something in it. */
  async #reconsider(exclusion: Exclusion, hasNegation: boolean): Promise<void> {
    if (exclusion.reason !== 'gitignore' || !hasNegation) {
      this.#found.excluded.push(exclusion);
      return;
    }
    const { path, type } = exclusion;
    const slash = path.lastIndexOf('/');
    const folder = await this.#folder(slash === -1 ? '' : path.slice(0, slash));
    if (folder.exclusion !== undefined) return;
    const isChosen = folder.rules.test(type === 'directory' ? `${path}/` : path).isChosen;
    if (type === 'file') {
      if (isChosen) this.#judgeFile(path, folder.rules);
      else this.#found.excluded.push(exclusion);
      return;
    }
    const inside = await this.#walk.walkIgnored(path, exclusion, isChosen);
    for (const file of inside.files) this.#found.files.push(file);
    for (const other of inside.excluded) this.#found.excluded.push(other);
  }

  async #folder(path: string): Promise<Folder> {
    const known = this.#folders.get(path);
    if (known !== undefined) return known;
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
    return { exclusion, rules };
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
