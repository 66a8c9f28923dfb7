// Zero-width and bidirectional characters, which HFS+ ignores when it compares names (Apple TN1150).
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/;
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

/** Why a name is not safe in an archive; undefined if it is. `path` was decoded from UTF-8. */
export function judgeName(path: string): string | undefined {
  if (path.includes('\ufffd')) return 'its name is not valid UTF-8';
  if (CONTROLS.test(path)) return 'its name contains control characters';
  if (path.includes('\\')) return 'its name contains a backslash, which separates folders on Windows';
  return undefined;
}

/** Finds names that would overwrite each other on some file system. */
export class NameTable {
  readonly #folders = new Map<string, string>();
  readonly #files = new Map<string, string>();
  readonly #knownFolders = new Set<string>(['', '.']);

  /** The number of folders, including those that only occur in paths of files. */
  get folderCount(): number {
    return this.#folders.size;
  }

  /** Adds a file's path. Returns the earlier path that it collides with, if any. */
  claimFile(path: string): string | undefined {
    return this.#claim(path, this.#files);
  }

  /** The same for a folder, which may be added again with the same spelling. */
  claimFolder(path: string): string | undefined {
    if (this.#knownFolders.has(path)) return undefined;
    const other = this.#claim(path, this.#folders);
    if (other === undefined) this.#knownFolders.add(path);
    return other;
  }

  #claim(path: string, names: Map<string, string>): string | undefined {
    const slash = path.lastIndexOf('/');
    const parent = slash === -1 ? undefined : this.claimFolder(path.slice(0, slash));
    if (parent !== undefined) return parent;
    const key = foldName(path);
    const other = this.#files.get(key) ?? this.#folders.get(key);
    if (other === undefined) names.set(key, path);
    return other;
  }
}
