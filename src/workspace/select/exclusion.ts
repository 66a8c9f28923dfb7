import { secretFileRule, secretFolderRule } from '../secrets/secretNames.ts';

/** Why a path is not sent. */
export type ExclusionReason =
  | 'gitignore'
  | 'farwharfignore'
  | 'user' // who chose so for one submit
  | 'git' // git's own data, and inner repositories
  | 'secret'
  | 'venv'
  | 'cache'
  | 'link'
  | 'special' // devices, sockets, pipes
  | 'name' // names that no archive can carry safely, and those that differ only in case
  | 'unreadable'
  | 'limit';

export interface Exclusion {
  /** Relative to the root, with `/`, without a trailing one. */
  readonly path: string;
  readonly type: 'file' | 'directory';
  readonly reason: ExclusionReason;
  /** The pattern or name of the rule. */
  readonly rule?: string;
  /** Location of the rule: `sub/.gitignore:3`. */
  readonly at?: string;
}

/** Whether this is the folder's own `.git`, which is not the user's file. */
export function isOwnGit({ path }: Exclusion): boolean {
  return path === '.git';
}

export interface Verdict {
  readonly reason: ExclusionReason;
  readonly rule: string;
}

const CACHE_FOLDERS = new Set(
  [
    'node_modules .parcel-cache .gradle',
    '__pycache__ .pytest_cache .mypy_cache .ruff_cache .pytype .hypothesis .ipynb_checkpoints .tox .nox',
    '.Trash __MACOSX',
  ].flatMap((line) => line.split(' ')),
);
const CACHE_FILES = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);
/** The prefix of our own folders inside the user's folder. */
export const STAGING_PREFIX = '.farwharf-staging-';

/** The folder for results that are set aside. Its name is hidden, so that test runners, linters and builds skip it. */
export const ASIDE_FOLDER = '.farwharf-results';

/** What Farwharf's own folders contain: keys, sign-ins and tokens, and all files and logs of earlier jobs. */
const OWN_DATA: readonly (readonly string[])[] = [
  ['jobs.sqlite', 'spool'], // FARWHARF_HOME
  ['jobs.sqlite', 'service'],
  ['service.db', 'runner.key'], // the data folder of a service
  ['service.db', 'admin.json'],
  ['key', 'node', 'versions', 'home'], // a service that was installed over SSH
];

/** The built-in rule that excludes a folder with entries of these names, if any. */
export function judgeEntries(names: ReadonlySet<string>): Verdict | undefined {
  if (names.has('pyvenv.cfg')) return { reason: 'venv', rule: 'pyvenv.cfg' };
  const isOwn = OWN_DATA.some((entries) => entries.every((name) => names.has(name)));
  return isOwn ? { reason: 'secret', rule: 'data of Farwharf' } : undefined;
}

/** The built-in rule that excludes a folder of this name, if any. */
export function judgeFolderName(name: string): Verdict | undefined {
  if (name === '.git') return { reason: 'git', rule: '.git' };
  if (name === '.venv') return { reason: 'venv', rule: name };
  if (CACHE_FOLDERS.has(name)) return { reason: 'cache', rule: name };
  if (name.startsWith(STAGING_PREFIX)) return { reason: 'cache', rule: `${STAGING_PREFIX}*` };
  if (name === ASIDE_FOLDER) return { reason: 'cache', rule: ASIDE_FOLDER };
  const secret = secretFolderRule(name);
  return secret === undefined ? undefined : { reason: 'secret', rule: secret };
}

/** The built-in rule that excludes the file at this path, if any. */
export function judgeFileName(path: string): Verdict | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === '.git') return { reason: 'git', rule: '.git' };
  if (name.startsWith(STAGING_PREFIX)) return { reason: 'cache', rule: `${STAGING_PREFIX}*` };
  if (CACHE_FILES.has(name)) return { reason: 'cache', rule: name };
  const secret = secretFileRule(path);
  return secret === undefined ? undefined : { reason: 'secret', rule: secret };
}
