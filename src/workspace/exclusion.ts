/** Why something stays at home. */
export type ExclusionReason =
  | 'gitignore'
  | 'farwharfignore' // also: taken out by a person
  | 'git' // git's own data, and inner repositories
  | 'secret'
  | 'venv'
  | 'cache'
  | 'link'
  | 'special' // devices, sockets, pipes, and names that no archive can carry safely
  | 'unreadable'
  | 'limit';

export interface Exclusion {
  /** Relative to the root, with `/`, without one at the end. */
  readonly path: string;
  readonly type: 'file' | 'directory';
  readonly reason: ExclusionReason;
  /** The pattern or the name of the rule that decided. */
  readonly rule?: string;
  /** Where the rule stands: `sub/.gitignore:3`. */
  readonly at?: string;
}

export interface Verdict {
  readonly reason: ExclusionReason;
  readonly rule: string;
}

const CACHE_FOLDERS = new Set([
  'node_modules',
  '__pycache__',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.ipynb_checkpoints',
  '.tox',
  '.nox',
  '.hypothesis',
  '.gradle',
  '.parcel-cache',
  '.pytype',
  '.Trash',
  '__MACOSX',
]);
const CACHE_FILES = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);
const SECRET_FOLDERS = new Set(['.aws', '.ssh', '.gnupg', '.azure', '.kube']);
const SECRET_FILES = new Set([
  '.npmrc',
  '.netrc',
  '_netrc',
  '.pypirc',
  '.git-credentials',
  '.pgpass',
  '.htpasswd',
  '.dockercfg',
  '.envrc',
]);
const ENV_EXAMPLE = /\.(?:example|sample|template|dist|defaults?)$/i;
const PRIVATE_KEY_NAME = /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$|\.(?:pem|key|p12|pfx|jks|keystore|ppk)$/i;

/** The prefix of our own folders inside a person's folder. */
export const STAGING_PREFIX = '.farwharf-staging-';

/** Which built-in rule leaves a folder of this name out, if any. */
export function judgeFolderName(name: string): Verdict | undefined {
  if (name === '.git') return { reason: 'git', rule: '.git' };
  if (name === '.venv') return { reason: 'venv', rule: name };
  if (CACHE_FOLDERS.has(name)) return { reason: 'cache', rule: name };
  if (name.startsWith(STAGING_PREFIX)) return { reason: 'cache', rule: `${STAGING_PREFIX}*` };
  if (SECRET_FOLDERS.has(name)) return { reason: 'secret', rule: name };
  return undefined;
}

/** Which built-in rule leaves a file of this name out, if any. */
export function judgeFileName(name: string): Verdict | undefined {
  if (name === '.git') return { reason: 'git', rule: '.git' };
  if (CACHE_FILES.has(name)) return { reason: 'cache', rule: name };
  if (SECRET_FILES.has(name)) return { reason: 'secret', rule: name };
  if (/^\.env(?:\.|$)/i.test(name) && !ENV_EXAMPLE.test(name)) return { reason: 'secret', rule: '.env*' };
  if (PRIVATE_KEY_NAME.test(name)) return { reason: 'secret', rule: 'private key file' };
  return undefined;
}
