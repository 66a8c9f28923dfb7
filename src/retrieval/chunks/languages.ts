import { C_FAMILY, C_HEADER, C_SHARP, DART, JAVA, KOTLIN, OBJECTIVE_C, SCALA, SCRIPT, SWIFT } from './bracePatterns.ts';
import {
  CLOJURE,
  CMAKE,
  CSS,
  DOCKERFILE,
  ELIXIR,
  ERLANG,
  FORTRAN,
  F_SHARP,
  GO,
  GRAPHQL,
  HASKELL,
  HTML,
  JULIA,
  LATEX,
  LUA,
  MAKEFILE,
  OCAML,
  PERL,
  PHP,
  POWERSHELL,
  PROTOBUF,
  PYTHON,
  R,
  RUBY,
  RUST,
  SHELL,
  SOLIDITY,
  SQL,
  TERRAFORM,
  ZIG,
} from './definitionPatterns.ts';
import type { LinePattern } from './linePatterns.ts';

/** All that search knows about a language or another type of text file. */
export interface Language {
  /** What `lang:` accepts besides the extensions, in lower case. Several rows may have the same name. */
  readonly names: readonly string[];
  /** In lower case, without the dot, each in one row only. */
  readonly extensions: readonly string[];
  /** Names of files without an extension, in lower case. */
  readonly fileNames?: readonly string[];
  /** Where files are split into chunks. */
  readonly splitAt: 'definitions' | 'headings' | 'cells' | 'keys' | 'paragraphs';
  /** The first line of a definition: group 1 is its indentation, group 2 its name. Without it, patterns for many languages apply. */
  readonly definition?: RegExp | readonly LinePattern[];
  /** Whether the parameters of a method may begin in the line below its name. */
  readonly hasOpenMethods?: boolean;
  /** A line of a comment or decorator, which stays with the definition below it. Without it, the marks of many languages apply. */
  readonly comment?: RegExp;
}

/** To add a language to the index, add a row here and increment `INDEX_VERSION`. */
export const LANGUAGES: readonly Language[] = [
  {
    names: ['bash', 'shell', 'shellscript'],
    extensions: ['sh', 'bash', 'zsh', 'ksh', 'bats'],
    splitAt: 'definitions',
    definition: SHELL,
  },
  { names: ['c', 'c++', 'cpp'], extensions: ['h'], splitAt: 'definitions', definition: C_HEADER },
  { names: ['c'], extensions: ['c'], splitAt: 'definitions', definition: C_FAMILY },
  {
    names: ['c++', 'cpp'],
    extensions: ['cpp', 'cc', 'cxx', 'hpp', 'hh', 'hxx', 'ipp', 'inl', 'tpp', 'cu', 'cuh', 'ino'],
    splitAt: 'definitions',
    definition: C_FAMILY,
  },
  {
    names: ['c#', 'csharp'],
    extensions: ['cs', 'csx'],
    splitAt: 'definitions',
    definition: C_SHARP,
    hasOpenMethods: true,
  },
  { names: ['clojure'], extensions: ['clj', 'cljs', 'cljc', 'edn'], splitAt: 'definitions', definition: CLOJURE },
  { names: ['cmake'], extensions: ['cmake'], fileNames: ['cmakelists.txt'], splitAt: 'definitions', definition: CMAKE },
  { names: ['css'], extensions: ['css', 'scss', 'sass', 'less'], splitAt: 'definitions', definition: CSS },
  { names: ['dart'], extensions: ['dart'], splitAt: 'definitions', definition: DART, hasOpenMethods: true },
  {
    names: ['docker', 'dockerfile'],
    extensions: ['dockerfile'],
    fileNames: ['dockerfile', 'containerfile'],
    splitAt: 'definitions',
    definition: DOCKERFILE,
  },
  { names: ['elixir'], extensions: ['ex', 'exs', 'eex', 'heex'], splitAt: 'definitions', definition: ELIXIR },
  { names: ['erlang'], extensions: ['erl', 'hrl'], splitAt: 'definitions', definition: ERLANG },
  { names: ['f#', 'fsharp'], extensions: ['fs', 'fsx', 'fsi'], splitAt: 'definitions', definition: F_SHARP },
  {
    names: ['fortran'],
    extensions: ['f', 'f77', 'f90', 'f95', 'f03', 'f08'],
    splitAt: 'definitions',
    definition: FORTRAN,
  },
  { names: ['golang'], extensions: ['go'], splitAt: 'definitions', definition: GO },
  { names: ['graphql'], extensions: ['graphql', 'gql'], splitAt: 'definitions', definition: GRAPHQL },
  {
    names: ['groovy'],
    extensions: ['groovy', 'gradle'],
    splitAt: 'definitions',
    definition: JAVA,
    hasOpenMethods: true,
  },
  { names: ['haskell'], extensions: ['hs'], splitAt: 'definitions', definition: HASKELL },
  { names: ['haskell'], extensions: ['lhs'], splitAt: 'paragraphs' },
  { names: ['html'], extensions: ['html', 'htm'], splitAt: 'definitions', definition: HTML },
  { names: ['java'], extensions: ['java'], splitAt: 'definitions', definition: JAVA, hasOpenMethods: true },
  {
    names: ['javascript', 'js'],
    extensions: ['js', 'jsx', 'mjs', 'cjs'],
    splitAt: 'definitions',
    definition: SCRIPT,
    hasOpenMethods: true,
  },
  { names: ['json'], extensions: ['json', 'jsonc', 'json5'], splitAt: 'keys' },
  { names: ['julia'], extensions: ['jl'], splitAt: 'definitions', definition: JULIA },
  { names: ['kotlin'], extensions: ['kt', 'kts'], splitAt: 'definitions', definition: KOTLIN, hasOpenMethods: true },
  { names: ['latex'], extensions: ['tex', 'sty', 'cls', 'bib'], splitAt: 'definitions', definition: LATEX },
  { names: ['lua'], extensions: ['lua'], splitAt: 'definitions', definition: LUA },
  {
    names: ['make', 'makefile'],
    extensions: ['mk', 'mak'],
    fileNames: ['makefile', 'gnumakefile'],
    splitAt: 'definitions',
    definition: MAKEFILE,
  },
  { names: ['markdown', 'md'], extensions: ['md', 'mdx', 'markdown'], splitAt: 'headings' },
  { names: ['matlab', 'objective-c'], extensions: ['m'], splitAt: 'definitions', definition: OBJECTIVE_C },
  { names: ['notebook'], extensions: ['ipynb'], splitAt: 'cells' },
  { names: ['objective-c'], extensions: ['mm'], splitAt: 'definitions', definition: OBJECTIVE_C },
  { names: ['ocaml'], extensions: ['ml', 'mli'], splitAt: 'definitions', definition: OCAML },
  { names: ['perl'], extensions: ['pl', 'pm', 't'], splitAt: 'definitions', definition: PERL },
  {
    names: ['php', 'phtml'],
    extensions: ['php', 'phtml'],
    splitAt: 'definitions',
    definition: PHP,
    hasOpenMethods: true,
  },
  { names: ['powershell'], extensions: ['ps1', 'psm1'], splitAt: 'definitions', definition: POWERSHELL },
  { names: ['protobuf'], extensions: ['proto'], splitAt: 'definitions', definition: PROTOBUF },
  { names: ['python', 'py'], extensions: ['py', 'pyi', 'pyw'], splitAt: 'definitions', definition: PYTHON },
  { names: ['r'], extensions: ['r'], splitAt: 'definitions', definition: R },
  { names: ['r'], extensions: ['rmd'], splitAt: 'paragraphs' },
  { names: ['restructuredtext', 'rest'], extensions: ['rst'], splitAt: 'headings' },
  {
    names: ['ruby'],
    extensions: ['rb', 'rake', 'gemspec', 'ru'],
    fileNames: ['rakefile', 'gemfile'],
    splitAt: 'definitions',
    definition: RUBY,
  },
  { names: ['rust'], extensions: ['rs'], splitAt: 'definitions', definition: RUST },
  { names: ['scala'], extensions: ['scala', 'sc'], splitAt: 'definitions', definition: SCALA, hasOpenMethods: true },
  { names: ['solidity'], extensions: ['sol'], splitAt: 'definitions', definition: SOLIDITY },
  { names: ['sql'], extensions: ['sql'], splitAt: 'definitions', definition: SQL },
  { names: ['svelte'], extensions: ['svelte'], splitAt: 'definitions', definition: SCRIPT, hasOpenMethods: true },
  { names: ['swift'], extensions: ['swift'], splitAt: 'definitions', definition: SWIFT },
  { names: ['terraform', 'hcl'], extensions: ['tf', 'hcl', 'tfvars'], splitAt: 'definitions', definition: TERRAFORM },
  { names: ['toml'], extensions: ['toml'], splitAt: 'keys' },
  {
    names: ['typescript', 'ts'],
    extensions: ['ts', 'tsx', 'mts', 'cts'],
    splitAt: 'definitions',
    definition: SCRIPT,
    hasOpenMethods: true,
  },
  { names: ['vue'], extensions: ['vue'], splitAt: 'definitions', definition: SCRIPT, hasOpenMethods: true },
  { names: ['yaml', 'yml'], extensions: ['yaml', 'yml'], splitAt: 'keys' },
  { names: ['zig'], extensions: ['zig'], splitAt: 'definitions', definition: ZIG },
];

/** The language of a path or URL by its name or extension; undefined for other text. */
export function languageOf(source: string, languages: readonly Language[] = LANGUAGES): Language | undefined {
  const name = source.slice(source.lastIndexOf('/') + 1).toLowerCase();
  const named = languages.find(({ fileNames }) => fileNames?.includes(name) === true);
  const dot = name.lastIndexOf('.');
  if (named !== undefined || dot < 0) return named;
  const extension = name.slice(dot + 1);
  return languages.find(({ extensions }) => extensions.includes(extension));
}

const INTERPRETERS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:ba|z|k|da|a)?sh\b|\bbats\b/, 'bash'],
  [/\bpython/, 'python'],
  [/\b(?:node|deno|bun)\b/, 'javascript'],
  [/\bruby\b/, 'ruby'],
  [/\bperl\b/, 'perl'],
  [/\bphp\b/, 'php'],
  [/\blua/, 'lua'],
];
// The kernel reads no more of this line, either.
const MOST_OF_SHEBANG = 255;

/** The language of a script without an extension, by the interpreter in its first line. */
export function languageOfScript(text: string, languages: readonly Language[] = LANGUAGES): Language | undefined {
  if (!text.startsWith('#!')) return undefined;
  const line = text.slice(0, MOST_OF_SHEBANG).split('\n', 1)[0] ?? '';
  const name = INTERPRETERS.find(([interpreter]) => interpreter.test(line))?.[1];
  return languages.find(({ names }) => name !== undefined && names.includes(name));
}

export function isNotebook(path: string): boolean {
  return languageOf(path)?.splitAt === 'cells';
}

const PROSE = /\.(?:md|mdx|markdown|rmd|rst|tex|txt|ipynb)$/i;

/** Whether a file is mostly prose. */
export function isProse(path: string): boolean {
  return PROSE.test(path);
}
