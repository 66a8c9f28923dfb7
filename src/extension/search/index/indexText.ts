import { assertNever } from '../../../core/errors.ts';
import { formatBytes, formatCount } from '../../../core/text/format.ts';
import type { FolderStatus, SkippedPath } from '../../../retrieval/live/indexService.ts';
import type { SemanticState } from '../../../retrieval/semantic/semanticRanking.ts';

const WAITING = 'paused on battery';

/** `building 34 %`, `paused` and so on; empty if the index is up to date. */
export function indexState(status: readonly FolderStatus[], isPaused: boolean): string {
  if (isPaused) return 'paused';
  const building = status.filter(({ state }) => state === 'building');
  if (building.length > 0) return `building${percent(building)}`;
  if (status.some(({ state }) => state === 'waiting')) return WAITING;
  if (status.some(({ state }) => state === 'error')) return 'error';
  return '';
}

/** The message for a search without results. */
export function nothingFound(status: readonly FolderStatus[], isPaused: boolean): string {
  const files = status.reduce((sum, folder) => sum + folder.files, 0);
  const state = indexState(status, isPaused);
  if (files === 0 && state === WAITING)
    return `No results yet: the index is ${WAITING}. Run Resume Index to continue now.`;
  if (status.length === 0 || state.startsWith('building')) {
    return `No results yet: the index is ${state === '' ? 'starting' : state}`;
  }
  const also = ['paused', WAITING].includes(state) ? ` The index is ${state}, so recent changes are missing.` : '';
  return `Nothing in ${formatCount(files, 'file')} matches.${also}`;
}

/** A row of the index view. */
export interface IndexLine {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly icon: string;
}

/** The rows about the index of a folder. `now` is in milliseconds. */
export function folderLines(status: FolderStatus, now: number): readonly IndexLine[] {
  const { files, chunks, bytes, updatedAt, problem, semantic } = status;
  return [
    { id: 'state', ...stateLine(status) },
    ...(problem === undefined
      ? []
      : [{ id: 'problem', label: 'Problem', description: problem.message, icon: 'warning' }]),
    ...(semantic === undefined ? [] : [{ id: 'semantic', label: 'Semantic ranking', ...semanticText(semantic) }]),
    { id: 'files', label: 'Files', description: count(files), icon: 'files' },
    { id: 'chunks', label: 'Chunks', description: count(chunks), icon: 'list-tree' },
    { id: 'size', label: 'Size on disk', description: formatBytes(bytes), icon: 'database' },
    {
      id: 'updated',
      label: 'Updated',
      description: updatedAt === undefined ? 'not yet' : ago(now - updatedAt),
      icon: 'history',
    },
  ];
}

function semanticText(semantic: SemanticState): Pick<IndexLine, 'description' | 'icon'> {
  switch (semantic.type) {
    case 'off':
      return { description: 'off', icon: 'circle-slash' };
    case 'ready':
      return { description: 'on', icon: 'sparkle' };
    case 'failed':
      return { description: `keyword ranking only: ${semantic.reason}`, icon: 'warning' };
    case 'unfinished': {
      const { done, total, reason } = semantic;
      const part = `${count(done)} of ${formatCount(total, 'text')}, keyword ranking only until then`;
      return reason === undefined
        ? { description: part, icon: 'sync~spin' }
        : { description: `${part} (${reason})`, icon: 'circle-outline' };
    }
    default:
      return assertNever(semantic);
  }
}

function stateLine({ state, progress, pending, isWriter }: FolderStatus): Omit<IndexLine, 'id'> {
  switch (state) {
    case 'building':
      return {
        label: 'Building',
        description: progress === undefined ? 'listing files' : progressText(progress),
        icon: 'sync~spin',
      };
    case 'waiting':
      return {
        label: 'Paused on battery',
        description: 'run Resume Index to continue now',
        icon: 'plug',
      };
    case 'paused':
      return { label: 'Paused', description: 'changes are indexed once you resume', icon: 'debug-pause' };
    case 'error':
      return { label: 'Not up to date', description: 'retried with the next change', icon: 'error' };
    case 'ready': {
      const description = pending > 0 ? `${formatCount(pending, 'change')} to index` : '';
      return {
        label: 'Up to date',
        description: isWriter ? description : 'updated by another window',
        icon: 'pass',
      };
    }
    default:
      return assertNever(state);
  }
}

function progressText({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }): string {
  return `${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}`;
}

function percent(building: readonly FolderStatus[]): string {
  const known = building.flatMap(({ progress }) => progress ?? []);
  const total = known.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
  if (total === 0) return '';
  return ` ${Math.floor((100 * known.reduce((sum, { doneBytes }) => sum + doneBytes, 0)) / total)} %`;
}

/** `just now`, `4 min ago`, `2 h ago`, `3 d ago`. */
function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}

const REASONS: Readonly<Record<string, string>> = {
  gitignore: 'ignored by git',
  farwharfignore: 'ignored by .farwharfignore',
  git: "git's own files",
  secret: 'look like secrets',
  venv: 'virtual environments',
  cache: 'caches and installed packages',
  link: 'links',
  special: 'pipes, sockets and devices',
  unreadable: 'cannot be read',
  limit: 'over a limit',
  binary: 'not text',
  'too-large': 'too large',
};

/** Why files are skipped, in words; an unknown reason is returned unchanged. */
export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason;
}

/** Skipped files by reason, the most frequent first. */
export function byReason(items: readonly SkippedPath[]): readonly (readonly [string, readonly SkippedPath[]])[] {
  return [...Map.groupBy(items, ({ reason }) => reason)].sort(([, a], [, b]) => b.length - a.length);
}

/** The rule that skipped a file: `*.log in .gitignore:3`. */
export function ruleText({ rule, at }: SkippedPath): string {
  return [rule ?? '', at === undefined ? '' : `in ${at}`].filter((part) => part !== '').join(' ');
}

/** The index in the language status: `12,345 files`, and its state unless it is up to date. */
export function indexSummary(status: readonly FolderStatus[], isPaused: boolean): string {
  const files = formatCount(
    status.reduce((sum, folder) => sum + folder.files, 0),
    'file',
  );
  const state = indexState(status, isPaused);
  return state === '' ? files : `${files}, ${state}`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
