import { type Language, LANGUAGES } from '../chunks/languages.ts';

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
    const part = text.toLowerCase();
    const matches = part.includes('*')
      ? (path: string) => matchesGlob(path, part)
      : (path: string) => path.includes(part);
    return new PathFilter([...this.#paths, { matches, isWanted }], this.#languages);
  }

  /** Accepts a name of a language or an extension, in any case. */
  withLanguage(name: string, isWanted: boolean, languages: readonly Language[] = LANGUAGES): PathFilter {
    const lower = name.toLowerCase();
    const extensionsOfLanguage = languages
      .filter(({ names }) => names.includes(lower))
      .flatMap(({ extensions }) => extensions);
    const ends = new Set(extensionsOfLanguage.length > 0 ? extensionsOfLanguage : [lower]);
    const matches = (path: string): boolean => ends.has(path.slice(path.lastIndexOf('.') + 1));
    return new PathFilter(this.#paths, [...this.#languages, { matches, isWanted }]);
  }

  accepts(path: string): boolean {
    const lower = path.toLowerCase();
    if (!this.#paths.every(({ matches, isWanted }) => matches(lower) === isWanted)) return false;
    const required = this.#languages.filter(({ isWanted }) => isWanted);
    if (required.length > 0 && !required.some(({ matches }) => matches(lower))) return false;
    return !this.#languages.some(({ matches, isWanted }) => !isWanted && matches(lower));
  }
}

/**
 * Whether a path with `/` is what a pattern means: `*` stands for any run within a name, `**` for any run, and a name that is
 * `**` for any folders or none. A pattern that does not begin with `/` may begin at any folder.
 *
 * After a mismatch, only the last star, or else the last double star, matches one more character. The worst case is therefore the
 * product of both lengths, rather than exponential as with a regular expression.
 */
function matchesGlob(path: string, pattern: string): boolean {
  const glob = pattern.startsWith('/') ? pattern.slice(1) : `**/${pattern}`;
  let [at, place] = [0, 0];
  let [starAt, starPlace] = [-1, 0];
  let [deepAt, deepPlace, isDeepName] = [-1, 0, false];
  while (at < path.length) {
    if (glob.startsWith('**', place)) {
      const end = endOfStars(glob, place);
      isDeepName = glob[end] === '/' && (place === 0 || glob[place - 1] === '/');
      [place, deepAt, starAt] = [isDeepName ? end + 1 : end, at, -1];
      deepPlace = place;
    } else if (glob[place] === '*') {
      place += 1;
      [starAt, starPlace] = [at, place];
    } else if (glob[place] === path[at]) {
      at += 1;
      place += 1;
    } else if (starAt >= 0 && path[starAt] !== '/') {
      starAt += 1;
      [at, place] = [starAt, starPlace];
    } else {
      deepAt = nextStart(path, deepAt, isDeepName);
      if (deepAt < 0) return false;
      [at, place, starAt] = [deepAt, deepPlace, -1];
    }
  }
  return endOfStars(glob, place) === glob.length;
}

/** The next possible start of what follows a double star; -1 if there is none. */
function nextStart(path: string, from: number, isName: boolean): number {
  if (from < 0 || !isName) return from < 0 ? -1 : from + 1;
  const slash = path.indexOf('/', from);
  return slash < 0 ? -1 : slash + 1;
}

function endOfStars(glob: string, from: number): number {
  let end = from;
  while (glob[end] === '*') end += 1;
  return end;
}
