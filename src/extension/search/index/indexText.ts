import * as l10n from '@vscode/l10n';
import { assertNever } from '../../../core/errors.ts';
import { formatBytes, formatInteger, plural } from '../../../core/text/format.ts';
import type { FolderStatus } from '../../../retrieval/server/folderIndex.ts';
import type { SkippedPath } from '../../../retrieval/server/indexUpdater.ts';
import type { SemanticState } from '../../../retrieval/semantic/folderVectors.ts';

/** `building 34 %`, `paused` and so on; empty if the index is up to date. */
export function indexState(status: readonly FolderStatus[], isPaused: boolean): string {
  if (isPaused) return l10n.t('paused');
  const building = status.filter(({ state }) => state === 'building');
  if (building.length > 0) return `${l10n.t('building')}${percent(building)}`;
  if (status.some(({ state }) => state === 'waiting')) return l10n.t('paused on battery');
  if (status.some(({ state }) => state === 'error')) return l10n.t('error');
  return '';
}

/** The message for a search without results. */
export function nothingFound(status: readonly FolderStatus[], isPaused: boolean): string {
  const files = status.reduce((sum, folder) => sum + folder.files, 0);
  const has = (wanted: FolderStatus['state']): boolean => status.some(({ state }) => state === wanted);
  const isBuilding = !isPaused && has('building');
  const isWaiting = !isPaused && !isBuilding && has('waiting');
  if (files === 0 && isWaiting)
    return l10n.t('No results yet: the index is paused on battery. Run Resume Index to continue now.');
  if (status.length === 0 || isBuilding) {
    const state = indexState(status, isPaused);
    return l10n.t('No results yet: the index is {0}', state === '' ? l10n.t('starting') : state);
  }
  if (files === 0 && !isPaused) {
    return status.some(({ skipped }) => skipped > 0)
      ? l10n.t('There is nothing to search, because every file is skipped. The Index view shows why.')
      : l10n.t('There is nothing to search, because the folder has no files.');
  }
  const nothing = plural(files, l10n.t('No matches in 1 file.'), l10n.t('No matches in {0} files.'));
  if (isPaused) return `${nothing} ${l10n.t('The index is paused, so recent changes are missing.')}`;
  if (isWaiting) return `${nothing} ${l10n.t('The index is paused on battery, so recent changes are missing.')}`;
  return nothing;
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
      : [{ id: 'problem', label: l10n.t('Problem'), description: problem.message, icon: 'warning' }]),
    ...(semantic === undefined
      ? []
      : [{ id: 'semantic', label: l10n.t('Semantic ranking'), ...semanticText(semantic) }]),
    { id: 'files', label: l10n.t('Files'), description: formatInteger(files), icon: 'files' },
    { id: 'chunks', label: l10n.t('Chunks'), description: formatInteger(chunks), icon: 'list-tree' },
    { id: 'size', label: l10n.t('Size on disk'), description: formatBytes(bytes), icon: 'database' },
    {
      id: 'updated',
      label: l10n.t('Updated'),
      description: updatedAt === undefined ? l10n.t('not yet') : ago(now - updatedAt),
      icon: 'history',
    },
  ];
}

function semanticText(semantic: SemanticState): Pick<IndexLine, 'description' | 'icon'> {
  switch (semantic.type) {
    case 'off':
      return { description: l10n.t('off'), icon: 'circle-slash' };
    case 'ready':
      return { description: l10n.t('on'), icon: 'sparkle' };
    case 'failed':
      return { description: l10n.t('keyword ranking only: {0}', semantic.reason), icon: 'warning' };
    case 'unfinished': {
      const { done, total, reason } = semantic;
      const part = l10n.t(
        '{0} of {1} texts, keyword ranking only until then',
        formatInteger(done),
        formatInteger(total),
      );
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
        label: l10n.t('Building'),
        description: progress === undefined ? l10n.t('listing files') : progressText(progress),
        icon: 'sync~spin',
      };
    case 'waiting':
      return {
        label: l10n.t('Paused on battery'),
        description: l10n.t('run Resume Index to continue now'),
        icon: 'plug',
      };
    case 'paused':
      return {
        label: l10n.t('Paused'),
        description: l10n.t('changes are indexed once you resume'),
        icon: 'debug-pause',
      };
    case 'error':
      return { label: l10n.t('Not up to date'), description: l10n.t('retried with the next change'), icon: 'error' };
    case 'ready': {
      const description =
        pending > 0 ? plural(pending, l10n.t('1 change to index'), l10n.t('{0} changes to index')) : '';
      return {
        label: l10n.t('Up to date'),
        description: isWriter ? description : l10n.t('updated by another window'),
        icon: 'pass',
      };
    }
    default:
      return assertNever(state);
  }
}

function progressText({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }): string {
  return l10n.t('{0} of {1}', formatBytes(doneBytes), formatBytes(totalBytes));
}

function percent(building: readonly FolderStatus[]): string {
  const progresses = building.flatMap(({ progress }) => progress ?? []);
  const total = progresses.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
  if (total === 0) return '';
  return ` ${Math.floor((100 * progresses.reduce((sum, { doneBytes }) => sum + doneBytes, 0)) / total)} %`;
}

/** `just now`, `4 min ago`, `2 h ago`, `3 d ago`. */
function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return l10n.t('just now');
  if (minutes < 60) return l10n.t('{0} min ago', minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? l10n.t('{0} h ago', hours) : l10n.t('{0} d ago', Math.floor(hours / 24));
}

const REASONS: Readonly<Record<string, string>> = {
  gitignore: l10n.t('ignored by git'),
  farwharfignore: l10n.t('ignored by .farwharfignore'),
  git: l10n.t("git's own files"),
  secret: l10n.t('look like secrets'),
  venv: l10n.t('virtual environments'),
  cache: l10n.t('caches and installed packages'),
  link: l10n.t('links'),
  special: l10n.t('pipes, sockets and devices'),
  unreadable: l10n.t('cannot be read'),
  limit: l10n.t('over a limit'),
  binary: l10n.t('not text'),
  'too-large': l10n.t('too large'),
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
  return [rule ?? '', at === undefined ? '' : l10n.t('in {0}', at)].filter((part) => part !== '').join(' ');
}

/** The index in the language status: `12,345 files`, and its state unless it is up to date. */
export function indexSummary(status: readonly FolderStatus[], isPaused: boolean): string {
  const files = plural(
    status.reduce((sum, folder) => sum + folder.files, 0),
    l10n.t('1 file'),
    l10n.t('{0} files'),
  );
  const state = indexState(status, isPaused);
  return state === '' ? files : `${files}, ${state}`;
}
