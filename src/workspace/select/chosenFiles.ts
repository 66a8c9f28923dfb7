import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as l10n from '@vscode/l10n';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { plural } from '../../core/text/format.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { listFolder } from '../files/folderEntries.ts';
import type { Finding, SelectedFile } from '../files/selectedFile.ts';
import { type Exclusion, judgeEntries, judgeFileName, judgeFolderName, type Verdict } from './exclusion.ts';
import { listInnerRepository, type ListingOptions } from './folderListing.ts';
import type { Walked } from './folderWalk.ts';

/** A file that is sent because the user chose it, whatever the rules say. */
export interface ChosenFile {
  /** Whether it is sent even if it contains secrets. */
  readonly mayHoldSecrets: boolean;
  /** Where the file is that it links to, or that is in a folder to which a link leads: absolute, without links. */
  readonly source?: string;
}

/** A link that the user chose, or that a chosen path goes through. */
export interface ChosenLink {
  readonly path: string;
  /** Absolute, without links. */
  readonly target: string;
  readonly isFolder: boolean;
  readonly isOutside: boolean;
}

// The target of each is shown before it is sent.
const MOST_LINKS = 1_000;

/** What of a chosen folder is sent although a built-in rule leaves it out. */
type Allows = Readonly<Record<'secrets' | 'builtIn', boolean>>;

/**
 * Collects the files of the paths that the user chose. Of a folder, everything is sent, and of a repository, what its own rules send. A
 * link sends what it leads to; links inside of that are left out, and can be chosen themselves.
 */
export class ChosenFiles {
  readonly #root: string;
  readonly #realRoot: string;
  readonly #options: Pick<ListingOptions, 'isTrusted' | 'signal'> & { readonly maxFiles: number };
  readonly #yielder: Yielder;
  readonly files = new Map<string, ChosenFile>();
  readonly excluded: Exclusion[] = [];
  readonly links: ChosenLink[] = [];
  #added: string[] = [];

  constructor(
    root: string,
    realRoot: string,
    options: Pick<ListingOptions, 'isTrusted' | 'signal'> & { readonly maxFiles: number },
  ) {
    this.#root = root;
    this.#realRoot = realRoot;
    this.#options = options;
    this.#yielder = new Yielder(options.signal);
  }

  /**
   * Adds what is at a path, and returns the paths of its files.
   *
   * @param isNamed whether the user chose the path itself, and not a pattern, which includes neither secrets nor what the built-in rules
   *   leave out.
   * @throws AppError `missing` for a link that leads nowhere, `refused` for one that leads to a secret, in a circle or to no file or
   *   folder, `permission` if it cannot be followed, `limit` for too many files.
   */
  async add(path: string, isNamed: boolean): Promise<readonly string[]> {
    this.#added = [];
    const allows = { secrets: isNamed, builtIn: isNamed };
    if (await isBehindLink(this.#root, path)) await this.#addLink(path, allows);
    else {
      const stats = await lstat(join(this.#root, path)).catch(() => undefined);
      if (stats?.isDirectory()) await this.#addFolder(path, join(this.#root, path), allows);
      else this.#addFile({ path, source: undefined }, allows);
    }
    return this.#added;
  }

  async #addLink(path: string, allows: Allows): Promise<void> {
    if (this.links.length >= MOST_LINKS) {
      throw new AppError(
        'limit',
        l10n.t(
          'More than {0} links were included, so nothing was sent. Include the folder that they lead to.',
          MOST_LINKS,
        ),
      );
    }
    const { target, stats } = await this.#follow(path);
    const inside = pathInside(this.#realRoot, target);
    const secret = secretOnTheWay(inside ?? target);
    if (secret !== undefined) {
      throw new AppError(
        'refused',
        l10n.t(
          '{0} is a link to {1}, which looks like a secret or private data ({2}), so nothing was sent. Copy what the job needs into the folder.',
          path,
          target,
          secret,
        ),
      );
    }
    // Only the link was named, and where it leads is the choice of anyone who made it.
    const allowances = { ...allows, secrets: false };
    if (stats.isDirectory()) await this.#addFolder(path, target, allowances, target);
    else this.#addFile({ path, source: target }, allowances);
    this.links.push({ path, target, isFolder: stats.isDirectory(), isOutside: inside === undefined });
  }

  async #follow(path: string): Promise<{ readonly target: string; readonly stats: Stats }> {
    const absolute = join(this.#root, path);
    try {
      const target = await realpath(absolute);
      const stats = await stat(target);
      if (!stats.isDirectory() && !stats.isFile()) {
        throw new AppError(
          'refused',
          l10n.t('{0} is a link to {1}, which is neither a file nor a folder, so nothing was sent.', path, target),
        );
      }
      if (stats.isDirectory() && pathInside(target, await realpath(dirname(absolute))) !== undefined)
        throw circle(path);
      return { target, stats };
    } catch (error) {
      switch (systemCode(error) ?? '') {
        case 'ENOENT':
        case 'ENOTDIR':
          throw new AppError(
            'missing',
            l10n.t(
              '{0} is a link to something that does not exist, so nothing was sent. Mend or remove the link.',
              path,
            ),
            { cause: error },
          );
        case 'ELOOP':
          throw circle(path, error);
        case 'EACCES':
        case 'EPERM':
          throw new AppError(
            'permission',
            l10n.t('{0} is a link that cannot be followed: {1}. Nothing was sent.', path, messageOf(error)),
            { cause: error },
          );
        default:
          throw error;
      }
    }
  }

  /** @param source the folder's place without links, if it was reached through one. */
  async #addFolder(path: string, absolute: string, allows: Allows, source?: string): Promise<void> {
    const folders = [{ path, absolute, source }];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const entries = await listFolder(folder.absolute, this.#yielder).catch(() => undefined);
      this.#options.signal?.throwIfAborted();
      if (entries === undefined) {
        this.#leaveOut(folder.path, 'directory', { reason: 'unreadable', rule: 'folder cannot be listed' });
        continue;
      }
      const names = new Set(entries.map(({ name }) => name));
      if (names.has('.git')) {
        this.#addRepository(folder, await listInnerRepository(folder.absolute, folder.path, this.#options), allows);
        continue;
      }
      const verdict = folder.path === path ? undefined : judgeEntries(names);
      if (isRefused(verdict, allows)) {
        this.#leaveOut(folder.path, 'directory', verdict);
        continue;
      }
      for (const { name, isFolder } of entries) {
        const inner = {
          path: `${folder.path}/${name}`,
          absolute: join(folder.absolute, name),
          source: folder.source === undefined ? undefined : join(folder.source, name),
        };
        const builtIn = isFolder ? judgeFolderName(name) : judgeFileName(inner.path);
        if (isRefused(builtIn, allows)) this.#leaveOut(inner.path, isFolder ? 'directory' : 'file', builtIn);
        else if (isFolder) folders.push(inner);
        else this.#addFile(inner, allows);
      }
    }
  }

  #addRepository(
    { path, source }: { readonly path: string; readonly source: string | undefined },
    { files, excluded }: Walked,
    allows: Allows,
  ): void {
    for (const one of excluded) this.excluded.push(one);
    for (const file of files) {
      const inner = file.slice(path.length + 1);
      this.#addFile({ path: file, source: source && join(source, inner) }, { ...allows, secrets: false });
    }
  }

  #addFile({ path, source }: { readonly path: string; readonly source: string | undefined }, allows: Allows): void {
    if (this.files.size > this.#options.maxFiles) {
      throw new AppError('limit', l10n.t('{0} and what else was included has too many files to send.', path));
    }
    const mayHoldSecrets = allows.secrets || this.files.get(path)?.mayHoldSecrets === true;
    this.files.set(path, { mayHoldSecrets, ...(source !== undefined && { source }) });
    this.#added.push(path);
  }

  #leaveOut(path: string, type: Exclusion['type'], verdict: Pick<Exclusion, 'reason' | 'rule'>): void {
    this.excluded.push({ path, type, ...verdict });
  }
}

function isRefused(verdict: Verdict | undefined, { secrets, builtIn }: Allows): verdict is Verdict {
  return verdict !== undefined && !(verdict.reason === 'secret' ? secrets : builtIn);
}

/** The rule by which a path leads into git's data, a folder of secrets or to a secret. */
function secretOnTheWay(path: string): string | undefined {
  const parts = path.split(/[\\/]/);
  const folder = parts
    .map(judgeFolderName)
    .find((verdict) => verdict?.reason === 'secret' || verdict?.reason === 'git');
  const file = judgeFileName(path);
  return folder?.rule ?? (file?.reason === 'secret' ? file.rule : undefined);
}

/** Whether a path is a link, or in a folder that is reached through one. */
async function isBehindLink(root: string, path: string): Promise<boolean> {
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    if (await isLink(join(root, path.slice(0, end)))) return true;
  }
  return isLink(join(root, path));
}

async function isLink(absolute: string): Promise<boolean> {
  return (await lstat(absolute).catch(() => undefined))?.isSymbolicLink() === true;
}

/** @param sentFiles the files that are sent. */
export function describeLink(
  { path, target, isFolder, isOutside }: ChosenLink,
  sentFiles: readonly SelectedFile[],
): Finding {
  const files = isFolder ? sentFiles.filter((file) => file.path.startsWith(`${path}/`)).length : 1;
  const count = plural(files, l10n.t('1 file'), l10n.t('{0} files'));
  const message = isOutside
    ? l10n.t('{0} is a link out of the folder. What it leads to is sent: {2}, from {1}.', path, target, count)
    : l10n.t('{0} is a link to {1}. What it leads to is sent: {2}.', path, target, count);
  return { type: 'link', path, target, message };
}

function circle(path: string, cause?: unknown): AppError {
  return new AppError(
    'refused',
    l10n.t(
      '{0} is a link that leads back to itself or to a folder that contains it, so nothing was sent. Include a folder below it instead.',
      path,
    ),
    { cause },
  );
}
