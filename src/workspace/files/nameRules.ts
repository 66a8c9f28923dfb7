import { posix } from 'node:path'; // Zero-width and bidirectional characters, which HFS+ ignores when it compares names (Apple TN1150).
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const ONLY_ASCII = /^[\u0020-\u007e]*$/;

/**
 * A key that is the same for names that are equal on some file system. It ignores case, sharp s, Unicode's composed and compatibility
 * forms, invisible characters, and dots and spaces at the end of a part.
 */
export function foldName(path: string): string {
  const unified = ONLY_ASCII.test(path)
    ? path.toLowerCase()
    : path.normalize('NFKC').replace(INVISIBLE, '').toUpperCase().toLowerCase().normalize('NFKC');
  return unified.includes('.') || unified.includes(' ') ? unified.replace(/(?<=[^/])[. ]+(?=\/|$)/g, '') : unified;
}

/** What a system takes as the name of a file, as data, so that every system's rules can be applied on any other. */
export interface NameRules {
  /** Characters that no name here contains. Control characters are in no name anywhere, because terminals act on them. */
  readonly forbidden: RegExp;
  /** Whether names may not end with a dot or a space, nor be those of devices. */
  readonly hasDevices: boolean;
  /** The length of a name in what the limit of 255 counts. */
  readonly lengthOf: (name: string) => number;
  /** Whether names are the same file if `foldName` makes them equal. */
  readonly isFolding: boolean;
}

const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;
// The bytes of a name that is not valid UTF-8, as `decodeName` returns them.
const BYTES = /[\udc80-\udcff]/gu;
const MAX_LENGTH = 255;
// Windows strips spaces before the dot too (Microsoft, "Naming Files, Paths, and Namespaces").
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?= *(?:\.|$))/i;
const utf16Length = (name: string): number => name.length;

export const LINUX_NAMES: NameRules = {
  forbidden: /\//g,
  hasDevices: false,
  lengthOf: (name) => Buffer.byteLength(name),
  isFolding: false,
};
export const MACOS_NAMES: NameRules = { forbidden: /\//g, hasDevices: false, lengthOf: utf16Length, isFolding: true };
export const WINDOWS_NAMES: NameRules = {
  forbidden: /[<>:"/\\|?*]/g,
  hasDevices: true,
  lengthOf: utf16Length,
  isFolding: true,
};

/** The rules of a system. */
export function namesOn(platform: NodeJS.Platform = process.platform): NameRules {
  if (platform === 'win32') return WINDOWS_NAMES;
  return platform === 'darwin' ? MACOS_NAMES : LINUX_NAMES;
}

// Most names. They are valid everywhere, so a cheap check is enough.
const PLAIN = /^[\w-](?:[\w.-]{0,200}[\w-])?$/;

/**
 * The name that a part of a path gets on a system: itself if it is valid there, otherwise one that is. Archives are written and read by this
 * function alone, so that neither refuses what the other accepts.
 */
export function validName(part: string, rules: NameRules): string {
  if (PLAIN.test(part) && !(rules.hasDevices && DEVICE.test(part))) return part;
  let name = part
    .replace(CONTROLS, '_')
    .replace(BYTES, (byte) => `%${(byte.charCodeAt(0) - 0xdc00).toString(16).toUpperCase()}`)
    .replace(rules.forbidden, '_');
  if (rules.hasDevices) {
    name = name.replace(/[. ]+$/, (end) => '_'.repeat(end.length)).replace(DEVICE, '$&_');
  }
  return name.length * 3 <= MAX_LENGTH || rules.lengthOf(name) <= MAX_LENGTH ? name : fitName(name, '', rules);
}

/** `name` with `suffix` before its extension, shortened so that it is not too long for a system. */
export function fitName(name: string, suffix: string, rules: NameRules): string {
  const dot = name.lastIndexOf('.');
  const hasExtension = dot > 0 && name.length - dot <= 20;
  const extension = hasExtension ? name.slice(dot) : '';
  let stem = hasExtension ? name.slice(0, dot) : name;
  while (rules.lengthOf(`${stem}${suffix}${extension}`) > MAX_LENGTH) {
    const surplus = rules.lengthOf(`${stem}${suffix}${extension}`) - MAX_LENGTH;
    // A character has up to three bytes for each of its UTF-16 units, of which half a pair is not valid Unicode.
    stem = stem.slice(0, -Math.max(1, Math.floor(surplus / 3))).replace(/[\ud800-\udbff]$/, '');
  }
  return `${stem}${suffix}${extension}`;
}

/** Why a file of this path would get another name on the machine that receives it; undefined if it keeps its name. */
export function judgeName(path: string): string | undefined {
  if (path.includes('\ufffd')) return 'its name is not valid UTF-8';
  if (path.split('/').every((part) => validName(part, LINUX_NAMES) === part)) return undefined;
  return path.search(CONTROLS) === -1 ? 'its name is longer than 255 bytes' : 'its name contains control characters';
}

/** Where an entry goes. */
export interface EntryPlace {
  /** The path that it gets here. */
  readonly path: string;
  /** If it has the name of another entry on this file system only: the path of that one here. */
  readonly twin?: string;
}

/** An entry has the path of an earlier one. */
export interface Repeated {
  /** The path of that one in the archive. */
  readonly earlier: string;
}

interface Taken {
  readonly path: string;
  readonly isFile: boolean;
  /** In the archive. */
  readonly name: string;
}

/** Gives the entries of an archive paths that are valid here, each its own. */
export class NameTable {
  readonly #rules: NameRules;
  /** By the key that is the same for the same file. */
  readonly #taken = new Map<string, Taken>();
  /** The paths of the archive's folders here. */
  readonly #folders = new Map<string, EntryPlace>([['', { path: '' }]]);
  /** The names that got a number, and by path the last number. Otherwise a million names that become the same would be compared each with each. */
  readonly #numbered = new Set<string>();
  readonly #numbers = new Map<string, number>();

  constructor(rules: NameRules) {
    this.#rules = rules;
  }

  /** The number of folders, including those that only occur in paths of files. */
  get folderCount(): number {
    return this.#folders.size - 1;
  }

  /** Adds a file, or something else that is not a folder, by its path in the archive. */
  addFile(name: string): EntryPlace | Repeated {
    return this.#add(name, true);
  }

  /** The same for a folder, which may be added again. */
  addFolder(name: string): EntryPlace | Repeated {
    const existing = this.#folders.get(name);
    if (existing !== undefined) return existing;
    const added = this.#add(name, false);
    if (!('earlier' in added)) this.#folders.set(name, added);
    return added;
  }

  #add(name: string, isFile: boolean): EntryPlace | Repeated {
    const slash = name.lastIndexOf('/');
    const parent = this.addFolder(slash === -1 ? '' : name.slice(0, slash));
    if ('earlier' in parent) return parent;
    const part = validName(name.slice(slash + 1), this.#rules);
    const before = parent.path === '' ? '' : `${parent.path}/`;
    const path = before + part;
    const other = this.#taken.get(this.#keyOf(path));
    if (other === undefined) return this.#take({ path, isFile, name });
    if (other.name === name || this.#numbered.has(name)) return { earlier: other.name };
    const isSame = isFile === other.isFile && this.#rules.isFolding && foldName(name) === foldName(other.name);
    // Another spelling of the name of a folder is the same folder, as it is for every program here.
    if (isSame && !isFile) return { path: other.path };
    this.#numbered.add(name);
    for (let number = (this.#numbers.get(path) ?? 1) + 1; ; number += 1) {
      const free = before + fitName(part, ` ${number}`, this.#rules);
      if (this.#taken.has(this.#keyOf(free))) continue;
      this.#numbers.set(path, number);
      return { ...this.#take({ path: free, isFile, name }), ...(isSame && { twin: other.path }) };
    }
  }

  #take(place: Taken): EntryPlace {
    this.#taken.set(this.#keyOf(place.path), place);
    return { path: place.path };
  }

  #keyOf(path: string): string {
    return this.#rules.isFolding ? foldName(path) : path;
  }
}

/** `plots/loss (job 7).png`, then `plots/loss (job 7) 2.png`. */
export function nameBeside(path: string, label: string, number: number): string {
  const { dir, base } = posix.parse(path);
  return posix.join(dir, fitName(base, ` (${label})${number === 1 ? '' : ` ${number}`}`, namesOn()));
}

/** The label of a job as a part of file names. */
export function safeLabel(label: string): string {
  return label.replace(/^\.|[^\w.-]+/g, '_').slice(0, 64) || '_';
}
