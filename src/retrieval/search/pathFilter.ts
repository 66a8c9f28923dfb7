import { matchesGlob } from './glob.ts';

// Languages and their file extensions. An extension is accepted as well (`lang:ts`).
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  bash: ['sh', 'bash', 'zsh'],
  c: ['c', 'h'],
  'c#': ['cs'],
  'c++': ['cpp', 'cc', 'cxx', 'hpp', 'hh', 'hxx', 'h'],
  clojure: ['clj', 'cljs', 'cljc', 'edn'],
  cpp: ['cpp', 'cc', 'cxx', 'hpp', 'hh', 'hxx', 'h'],
  csharp: ['cs'],
  css: ['css', 'scss', 'sass', 'less'],
  elixir: ['ex', 'exs'],
  erlang: ['erl', 'hrl'],
  fortran: ['f', 'f77', 'f90', 'f95', 'f03', 'f08'],
  golang: ['go'],
  haskell: ['hs', 'lhs'],
  html: ['html', 'htm'],
  java: ['java'],
  javascript: ['js', 'jsx', 'mjs', 'cjs'],
  js: ['js', 'jsx', 'mjs', 'cjs'],
  json: ['json', 'jsonc', 'json5'],
  julia: ['jl'],
  kotlin: ['kt', 'kts'],
  latex: ['tex', 'sty', 'cls', 'bib'],
  markdown: ['md', 'mdx', 'markdown'],
  md: ['md', 'mdx', 'markdown'],
  notebook: ['ipynb'],
  ocaml: ['ml', 'mli'],
  perl: ['pl', 'pm'],
  powershell: ['ps1', 'psm1'],
  protobuf: ['proto'],
  py: ['py', 'pyi', 'pyw'],
  python: ['py', 'pyi', 'pyw'],
  r: ['r', 'rmd'],
  ruby: ['rb', 'rake', 'gemspec'],
  rust: ['rs'],
  scala: ['scala', 'sc'],
  shell: ['sh', 'bash', 'zsh'],
  shellscript: ['sh', 'bash', 'zsh'],
  ts: ['ts', 'tsx', 'mts', 'cts'],
  typescript: ['ts', 'tsx', 'mts', 'cts'],
  yaml: ['yaml', 'yml'],
  yml: ['yaml', 'yml'],
};

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

  withLanguage(name: string, isWanted: boolean): PathFilter {
    const wanted = name.toLowerCase();
    const ends = new Set(Object.hasOwn(LANGUAGES, wanted) ? LANGUAGES[wanted] : [wanted]);
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
