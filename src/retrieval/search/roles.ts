// Words by which a query is about files other than sources.
const WORDS: readonly (readonly [FileRole, RegExp])[] = [
  ['test', /\b(?:tests?|tested|testing|specs?|unit tests?|fixtures?|mocks?|benchmarks?)\b/i],
  ['documentation', /\b(?:docs?|documentation|documented|readme|changelog|guide|manual|license|release notes)\b/i],
  ['example', /\b(?:examples?|samples?|demos?|tutorials?)\b/i],
  ['generated', /\b(?:generated|snapshots?|minified)\b/i],
  ['vendored', /\b(?:vendor(?:ed)?|third[- ]party)\b/i],
  [
    'configuration',
    /\b(?:config(?:uration)? files?|settings files?|workflows?|ci|dockerfile|makefile|package\.json|tsconfig|eslint|pyproject)\b/i,
  ],
  ['lock', /\b(?:lock ?files?|package-lock|go\.sum)\b/i],
  ['legacy', /\b(?:legacy|deprecated|compat(?:ibility)?)\b/i],
  ['data', /\b(?:csv|html|svg|notebooks?|translations?)\b/i],
];

// A file by its extension.
const PROSE = /\.(?:md|mdx|rst|txt|adoc)\b/i;

// Longer text is pasted.
const MOST_READ = 2000; /** What a file is for. Sources come first, unless a query is about the others. */
export type FileRole =
  | 'source'
  | 'test'
  | 'documentation'
  | 'example'
  | 'generated'
  | 'vendored'
  | 'configuration'
  | 'lock'
  | 'data'
  | 'legacy'
  | 'exports'
  /** Of C and its relatives, beside a source file with the same name. */
  | 'header';

interface RoleRule {
  readonly role: FileRole;
  /** Of the path in lower case, with '/'. */
  readonly path: RegExp;
}

// The first rule that applies decides.
const RULES: readonly RoleRule[] = [
  {
    role: 'lock',
    path: /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb?|go\.sum|gopkg\.lock|gradle\.lockfile|packages\.lock\.json|[^/]*\.lock)$/,
  },
  {
    role: 'generated',
    path: /(?:\.min\.(?:js|css|mjs)|\.map|\.snap|\.flowtest\.json|\.pb\.go|_pb2(?:_grpc)?\.pyi?|\.pb\.(?:cc|h)|\.g\.dart|\.freezed\.dart|\.designer\.cs|\.g\.cs|\.generated\.[^/]+|[._-]gen\.(?:go|ts|rs|js))$|(?:^|\/)(?:__snapshots__|__generated__|generated|dist|build\/generated)\//,
  },
  {
    role: 'vendored',
    path: /(?:^|\/)(?:vendor|vendors|vendored|_vendor|third[_-]?party|extern(?:als?)?|3rd[_-]?party|node_modules|bower_components|single_include|amalgamation)\//,
  },
  {
    role: 'test',
    path: /(?:^|\/)(?:tests?|__tests__|specs?|testing|testdata|test[-_]data|fixtures?|__mocks__|mocks?|e2e|[^/]*[-_.]tests?|testsuite|benchmarks?|benches)\/|(?:^|\/)(?:test_[^/]*|conftest\.py|[^/]*(?:_test|_tests|_spec|\.test|\.tests|\.spec|\.test-d|\.bench|_bench|-test|-spec|\.cy)\.[^/.]+|[^/]*\.bats)$/,
  },
  {
    role: 'example',
    path: /(?:^|\/)(?:_?examples?|samples?|demos?|docs?_src|playgrounds?|tutorials?|cookbook)\/|\.(?:sample|example|dist)$/,
  },
  {
    role: 'documentation',
    path: /\.(?:md|mdx|markdown|rst|adoc|asciidoc|txt|tex|pod|rdoc|org)$|(?:^|\/)(?:docs?|documentation|website|man|changes|changelogs?)\/|(?:^|\/)(?:readme|changelog|changes|history|license|licence|copying|contributing|authors|news|todo|notice)[^/]*$/,
  },
  { role: 'data', path: /\.(?:csv|tsv|jsonl|ndjson|geojson|svg|xml|po|pot|xlf|strings|html?|ipynb|out|log|dat)$/ },
  {
    role: 'configuration',
    path: /\.(?:json|jsonc|json5|ya?ml|toml|ini|cfg|conf|properties|env|editorconfig|gradle|kts|cmake|bazel|mk|plist|csproj|sln|props|targets)$|(?:^|\/)\.[^/]+(?:\/|$)|(?:^|\/)(?:makefile|dockerfile|rakefile|gemfile|[^/]*\.config\.[^/.]+|[^/]*rc\.[cm]?js|setup\.py|build\.rs)$/,
  },
  { role: 'legacy', path: /(?:^|\/)(?:_?compat|legacy|deprecated|obsolete|attic)\// },
  { role: 'exports', path: /(?:^|\/)(?:__init__\.py|package-info\.java|index\.[cm]?[jt]s)$|\.d\.[cm]?ts$/ },
];
// JUnit, xUnit, XCTest, ScalaTest and others name tests by their class, in camel case.
const TEST_CLASS = /(?:Tests?|TestCase|Spec|Specs|Suite|IT)\.(?:java|kt|cs|swift|scala|php|groovy|m|mm|dart)$/;
const HEADER = /\.(?:h|hh|hpp|hxx)$/i;
const HEADED = /\.(?:c|cc|cpp|cxx|m|mm|cu)$/i;

/** The headers among files for which there is a source file with the same name. */
export function headersOf(paths: Iterable<string>): ReadonlySet<string> {
  const headed = new Set<string>();
  const headers: string[] = [];
  for (const path of paths) {
    if (HEADED.test(path)) headed.add(stemOf(path));
    else if (HEADER.test(path)) headers.push(path);
  }
  return new Set(headers.filter((path) => headed.has(stemOf(path))));
}

function stemOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1, path.lastIndexOf('.'));
}

export function roleOf(path: string): FileRole {
  if (TEST_CLASS.test(path)) return 'test';
  const lower = path.toLowerCase();
  return RULES.find((rule) => rule.path.test(lower))?.role ?? 'source';
}

/** The roles that a query asks for by its words; with a filter of paths or languages, every role. */
export function wantedRoles(text: string, hasFilter: boolean): ReadonlySet<FileRole> {
  const read = text.slice(0, MOST_READ);
  const roles = WORDS.flatMap(([role, words]) => (hasFilter || words.test(read) ? [role] : []));
  return new Set(PROSE.test(read) ? [...roles, 'documentation'] : roles);
}
