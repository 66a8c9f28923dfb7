import { type Language, LANGUAGES } from '../chunks/languages.ts';
import { matchesGlob } from './glob.ts';

interface PathRule {
  readonly matches: (path: string) => boolean;
  readonly isWanted: boolean;
}

/** Decides which files a search may find: those that match every `path:`, are in one of the languages, and match no exclusion. */
export class PathFilter {
  static readonly ALL = new PathFilter([], []);
  readonly #paths: readonly PathRule[];
  readonly #languages: readonly PathRule[];

  private constructor(paths: readonly PathRule[], languages: readonly PathRule[]) {
    this.#paths = paths;
    this.#languages = languages;
  }

  get acceptsAll(): boolean {
    return this.#paths.length === 0 && this.#languages.length === 0;
  }

  /**
   * Without a `*`, the text may occur anywhere in the path. With one, it must match the whole path, starting at any folder unless it
   * begins with a slash: `*` matches within a name, `**` across names, and a name that is `**` any number of folders.
   */
  withPath(text: string, isWanted: boolean): PathFilter {
    const wanted = text.toLowerCase();
    const matches = wanted.includes('*')
      ? (path: string) => matchesGlob(path, wanted)
      : (path: string) => path.includes(wanted);
    return new PathFilter([...this.#paths, { matches, isWanted }], this.#languages);
  }

  /** Accepts a name of a language or an extension, in any case. */
  withLanguage(name: string, isWanted: boolean, languages: readonly Language[] = LANGUAGES): PathFilter {
    const wanted = name.toLowerCase();
    const named = languages.filter(({ names }) => names.includes(wanted)).flatMap(({ extensions }) => extensions);
    const ends = new Set(named.length > 0 ? named : [wanted]);
    const matches = (path: string): boolean => ends.has(path.slice(path.lastIndexOf('.') + 1));
    return new PathFilter(this.#paths, [...this.#languages, { matches, isWanted }]);
  }

  accepts(path: string): boolean {
    const lower = path.toLowerCase();
    if (!this.#paths.every(({ matches, isWanted }) => matches(lower) === isWanted)) return false;
    const wanted = this.#languages.filter(({ isWanted }) => isWanted);
    if (wanted.length > 0 && !wanted.some(({ matches }) => matches(lower))) return false;
    return !this.#languages.some(({ matches, isWanted }) => !isWanted && matches(lower));
  }
}
