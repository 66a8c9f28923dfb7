/** All that search knows about a language or another type of text file. */
export interface Language {
  /** What `lang:` accepts besides the extensions, in lower case. Several rows may have the same name. */
  readonly names: readonly string[];
  /** In lower case, without the dot, each in one row only. */
  readonly extensions: readonly string[];
  /** Where files are split into chunks. */
  readonly splitAt: 'definitions' | 'headings' | 'cells' | 'keys' | 'paragraphs';
  /** The first line of a definition: group 1 is its indentation, group 2 its name. Without it, patterns for many languages apply. */
  readonly definition?: RegExp;
  /** A line of a comment or decorator, which stays with the definition below it. Without it, the marks of many languages apply. */
  readonly comment?: RegExp;
}

/** To add a language to the index, add a row here and increment `INDEX_VERSION`. */
export const LANGUAGES: readonly Language[] = [
  { names: ['bash', 'shell', 'shellscript'], extensions: ['sh', 'bash', 'zsh'], splitAt: 'definitions' },
  { names: ['c', 'c++', 'cpp'], extensions: ['h'], splitAt: 'definitions' },
  { names: ['c'], extensions: ['c'], splitAt: 'definitions' },
  { names: ['c++', 'cpp'], extensions: ['cpp', 'cc', 'cxx', 'hpp', 'hh', 'hxx'], splitAt: 'definitions' },
  { names: ['c#', 'csharp'], extensions: ['cs'], splitAt: 'definitions' },
  { names: ['clojure'], extensions: ['clj', 'cljs', 'cljc', 'edn'], splitAt: 'paragraphs' },
  { names: ['css'], extensions: ['css', 'scss', 'sass', 'less'], splitAt: 'paragraphs' },
  { names: ['dart'], extensions: ['dart'], splitAt: 'definitions' },
  { names: ['elixir'], extensions: ['ex', 'exs'], splitAt: 'definitions' },
  { names: ['erlang'], extensions: ['erl', 'hrl'], splitAt: 'paragraphs' },
  { names: ['fortran'], extensions: ['f', 'f77', 'f90', 'f95', 'f03', 'f08'], splitAt: 'definitions' },
  { names: ['golang'], extensions: ['go'], splitAt: 'definitions' },
  { names: ['haskell'], extensions: ['hs'], splitAt: 'definitions' },
  { names: ['haskell'], extensions: ['lhs'], splitAt: 'paragraphs' },
  { names: ['html'], extensions: ['html', 'htm'], splitAt: 'paragraphs' },
  { names: ['java'], extensions: ['java'], splitAt: 'definitions' },
  { names: ['javascript', 'js'], extensions: ['js', 'jsx', 'mjs', 'cjs'], splitAt: 'definitions' },
  { names: ['json'], extensions: ['json', 'jsonc', 'json5'], splitAt: 'keys' },
  { names: ['julia'], extensions: ['jl'], splitAt: 'definitions' },
  { names: ['kotlin'], extensions: ['kt', 'kts'], splitAt: 'definitions' },
  { names: ['latex'], extensions: ['tex', 'sty', 'cls', 'bib'], splitAt: 'paragraphs' },
  { names: ['lua'], extensions: ['lua'], splitAt: 'definitions' },
  { names: ['markdown', 'md'], extensions: ['md', 'mdx', 'markdown'], splitAt: 'headings' },
  { names: ['matlab', 'objective-c'], extensions: ['m'], splitAt: 'definitions' },
  { names: ['notebook'], extensions: ['ipynb'], splitAt: 'cells' },
  { names: ['ocaml'], extensions: ['ml', 'mli'], splitAt: 'definitions' },
  { names: ['perl'], extensions: ['pl', 'pm'], splitAt: 'definitions' },
  { names: ['php'], extensions: ['php'], splitAt: 'definitions' },
  { names: ['powershell'], extensions: ['ps1', 'psm1'], splitAt: 'definitions' },
  { names: ['protobuf'], extensions: ['proto'], splitAt: 'paragraphs' },
  { names: ['python', 'py'], extensions: ['py', 'pyi', 'pyw'], splitAt: 'definitions' },
  { names: ['r'], extensions: ['r'], splitAt: 'definitions' },
  { names: ['r'], extensions: ['rmd'], splitAt: 'paragraphs' },
  { names: ['ruby'], extensions: ['rb', 'rake', 'gemspec'], splitAt: 'definitions' },
  { names: ['rust'], extensions: ['rs'], splitAt: 'definitions' },
  { names: ['scala'], extensions: ['scala', 'sc'], splitAt: 'definitions' },
  { names: ['sql'], extensions: ['sql'], splitAt: 'definitions' },
  { names: ['svelte'], extensions: ['svelte'], splitAt: 'definitions' },
  { names: ['swift'], extensions: ['swift'], splitAt: 'definitions' },
  { names: ['toml'], extensions: ['toml'], splitAt: 'keys' },
  { names: ['typescript', 'ts'], extensions: ['ts', 'tsx', 'mts', 'cts'], splitAt: 'definitions' },
  { names: ['vue'], extensions: ['vue'], splitAt: 'definitions' },
  { names: ['yaml', 'yml'], extensions: ['yaml', 'yml'], splitAt: 'keys' },
  { names: ['zig'], extensions: ['zig'], splitAt: 'definitions' },
];

/** The language of a path or URL by its extension; undefined for other text. */
export function languageOf(source: string, languages: readonly Language[] = LANGUAGES): Language | undefined {
  const dot = source.lastIndexOf('.');
  if (dot < 0) return undefined;
  const extension = source.slice(dot + 1).toLowerCase();
  return languages.find(({ extensions }) => extensions.includes(extension));
}

export function isNotebook(path: string): boolean {
  return languageOf(path)?.splitAt === 'cells';
}
