import type { Exclusion, Selection } from '../../workspace/select/selection.ts';
import { MAX_LISTED } from './selectedFolder.ts';

/** Paths that the user chose individually. */
export interface FileChoice {
  /** Paths to send although a rule excludes them. */
  readonly include: readonly string[];
  /** Paths to leave out although no rule excludes them. */
  readonly exclude: readonly string[];
}

/** A file or folder directly in a folder that is about to be submitted. */
export interface TreeEntry {
  /** Relative to the folder that is submitted, with `/`. */
  readonly path: string;
  readonly name: string;
  readonly isFolder: boolean;
  /** How many files of it are sent, and their size in bytes. */
  readonly sent: number;
  readonly sentBytes: number;
  /** How many paths in it are left out, not counting itself. */
  readonly leftOut: number;
  /** Of a chosen link: the absolute path of what it leads to. */
  readonly target?: string;
  /** Why it is left out as a whole. */
  readonly exclusion?: Exclusion;
}

export interface TreeLevel {
  /** Folders first, each group by name. */
  readonly entries: readonly TreeEntry[];
  /** How many entries are not listed. */
  readonly more: number;
}

type Draft = { -readonly [Field in keyof Omit<TreeEntry, 'path' | 'name'>]: TreeEntry[Field] };

// What no choice of the user can send.
const NEVER_SENT: ReadonlySet<Exclusion['reason']> = new Set(['name', 'special', 'unreadable', 'limit']);

/** What is directly in a folder of a selection, sent or left out; `''` is the folder that is submitted. At most `most` entries. */
export function listLevel(
  { files, excluded, findings }: Pick<Selection, 'files' | 'excluded' | 'findings'>,
  folder: string,
  most = MAX_LISTED,
): TreeLevel {
  const prefix = folder === '' ? '' : `${folder}/`;
  const drafts = new Map<string, Draft>();
  /** The entry that contains the path or is the path; undefined if the path is elsewhere. */
  const find = (path: string): { readonly draft: Draft; readonly isItself: boolean } | undefined => {
    if (!path.startsWith(prefix)) return undefined;
    const end = path.indexOf('/', prefix.length);
    const name = path.slice(prefix.length, end < 0 ? undefined : end);
    const draft = drafts.get(name) ?? { isFolder: false, sent: 0, sentBytes: 0, leftOut: 0 };
    drafts.set(name, draft);
    if (end >= 0) draft.isFolder = true;
    return { draft, isItself: end < 0 };
  };
  for (const { path, size } of files) {
    const node = find(path);
    if (node === undefined) continue;
    node.draft.sent += 1;
    node.draft.sentBytes += size;
  }
  for (const exclusion of excluded) {
    const node = find(exclusion.path);
    if (node === undefined) continue;
    if (!node.isItself) node.draft.leftOut += 1;
    else {
      node.draft.exclusion = exclusion;
      if (exclusion.type === 'directory') node.draft.isFolder = true;
    }
  }
  for (const { path, target } of findings) {
    const node = target === undefined ? undefined : find(path);
    if (target !== undefined && node?.isItself) node.draft.target = target;
  }
  const entries = [...drafts].map(([name, draft]): TreeEntry => ({ path: `${prefix}${name}`, name, ...draft }));
  entries.sort((a, b) => Number(b.isFolder) - Number(a.isFolder) || (a.name < b.name ? -1 : 1));
  return { entries: entries.slice(0, most), more: Math.max(0, entries.length - most) };
}

/** Whether the user can change if an entry is sent, and whether it is sent now; undefined if the user cannot. */
export function checkState(entry: TreeEntry, { exclude }: Pick<FileChoice, 'exclude'>): boolean | undefined {
  const { path, exclusion, sent } = entry;
  if (exclude.includes(path)) return false;
  if (exclude.some((chosen) => path.startsWith(`${chosen}/`))) return undefined; // the folder above decides
  if (exclusion === undefined) return sent > 0 ? true : undefined;
  return NEVER_SENT.has(exclusion.reason) ? undefined : false;
}

/** The choice after the user chose to send a path, or to leave it out. */
export function chooseToSend({ include, exclude }: FileChoice, path: string, isSent: boolean): FileChoice {
  const [rules, other] = isSent ? [include, exclude] : [exclude, include];
  // An earlier choice of the user is undone first. Only if that is not enough, a choice against the rules is added.
  const isUndone = other.includes(path);
  const added = isUndone || rules.includes(path) ? rules : [...rules, path];
  const rest = other.filter((chosen) => chosen !== path);
  return isSent ? { include: added, exclude: rest } : { include: rest, exclude: added };
}
