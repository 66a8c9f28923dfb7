import { posix } from 'node:path';
import type { Exclusion } from './exclusion.ts';
import { runGit } from './git.ts';
import { Pace } from './pace.ts';

export interface GitListing {
  /** Tracked files, deleted ones too, and untracked ones that are not ignored. */
  readonly paths: ReadonlySet<string>;
  /** Ignored files and folders, inner repositories, and folders that git could not read. */
  readonly excluded: readonly Exclusion[];
  readonly trackedButIgnored: ReadonlySet<string>;
}

const STANDARD = ['--exclude-standard', '-z'];
const LIST_FILES = ['--literal-pathspecs', 'ls-files'];

/**
 * What git says about the folder, or undefined where it has nothing to say: no git, no work tree, another owner's
 * repository, or a folder that a repository further up ignores as a whole (a home folder kept in git, say).
 *
 * `only` are paths of files and folders that are looked at alone; none means all.
 *
 * @throws the signal's reason, or AppError `limit` when git hangs.
 */
export async function listByGit(
  root: string,
  { only = [], signal }: { readonly only?: readonly string[] | undefined; readonly signal?: AbortSignal | undefined },
): Promise<GitListing | undefined> {
  const place = await runGit(root, ['rev-parse', '--is-inside-work-tree', '--show-prefix'], { signal });
  const [isInside, prefix = ''] = (place?.items[0] ?? '').split('\n');
  if (isInside !== 'true') return undefined;
  if (prefix !== '' && (await isIgnoredFromAbove(root, signal))) return undefined;

  const where = [...STANDARD, '--', ...only];
  const [files, ignored, trackedButIgnored] = await Promise.all([
    runGit(root, [...LIST_FILES, '--cached', '--others', ...where], { signal }),
    runGit(root, [...LIST_FILES, '--others', '--ignored', '--directory', ...where], { signal }),
    runGit(root, [...LIST_FILES, '--cached', '--ignored', ...where], { signal }),
  ]);
  if (files === undefined || ignored === undefined || trackedButIgnored === undefined) return undefined;
  const paths = new Set<string>();
  const excluded = await explain(root, prefix, ignored.items, signal);
  const pace = new Pace(signal);
  for (const item of files.items) {
    if (pace.isDue) await pace.pause();
    if (!item.endsWith('/')) paths.add(item);
    else excluded.push({ path: item.slice(0, -1), type: 'directory', reason: 'git', rule: 'inner repository' });
  }
  for (const [, folder = ''] of files.warnings.matchAll(/^warning: could not open directory '(.*?)\/?': /gm)) {
    excluded.push({ path: folder, type: 'directory', reason: 'unreadable', rule: 'folder cannot be listed' });
  }
  return { paths, excluded, trackedButIgnored: new Set(trackedButIgnored.items) };
}

async function isIgnoredFromAbove(root: string, signal?: AbortSignal): Promise<boolean> {
  const answer = await runGit(root, ['check-ignore', '-z', '--stdin'], { input: ['.'], signal });
  return answer !== undefined && answer.items.length > 0;
}

/** Asks git which rule ignores each path, and where it stands. */
async function explain(
  root: string,
  prefix: string,
  items: readonly string[],
  signal?: AbortSignal,
): Promise<Exclusion[]> {
  if (items.length === 0) return [];
  const answer = await runGit(root, ['check-ignore', '-v', '-z', '--stdin'], { input: items, signal });
  const fields = answer?.items ?? [];
  const excluded: Exclusion[] = [];
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [source = '', line = '', rule = '', item = ''] = fields.slice(i, i + 4);
    if (rule.startsWith('!')) continue;
    excluded.push({
      path: item.replace(/\/$/, ''),
      type: item.endsWith('/') ? 'directory' : 'file',
      reason: 'gitignore',
      rule,
      at: `${posix.isAbsolute(source) ? source : posix.relative(prefix, source)}:${line}`,
    });
  }
  return excluded;
}
