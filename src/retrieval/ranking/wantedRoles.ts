import type { FileRole } from './roles.ts';

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
const MOST_READ = 2000;

/** The roles that a query asks for by its words; with a filter of paths or languages, every role. */
export function wantedRoles(text: string, hasFilter: boolean): ReadonlySet<FileRole> {
  const read = text.slice(0, MOST_READ);
  const roles = WORDS.flatMap(([role, words]) => (hasFilter || words.test(read) ? [role] : []));
  return new Set(PROSE.test(read) ? [...roles, 'documentation'] : roles);
}
