import { accessSync, constants, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import * as l10n from '@vscode/l10n';
import { formatBytes } from '../../core/text/format.ts';
import { judgeName, LINUX_NAMES, NameTable } from '../files/nameRules.ts';
import type { ChosenFile } from './chosenFiles.ts';
import type { Exclusion, Verdict } from './exclusion.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { findSecret, secretBuffer } from '../secrets/secretContent.ts';
import { isBatchScriptName } from '../scripts/scriptKinds.ts';
import type { Finding, SelectedFile } from '../files/selectedFile.ts';

const LARGE_FILE_BYTES = 25_000_000;
const READABLE_BY_ALL = 0o444;

export interface Inspected {
  readonly files: SelectedFile[];
  readonly excluded: Exclusion[];
  readonly findings: Finding[];
  totalBytes: number;
}

export interface InspectOptions {
  /** What the user included, which may be large. */
  readonly chosen: ReadonlyMap<string, ChosenFile>;
  readonly maxFileBytes: number;
  /** Whether a file with this size and time is known to contain no secret; then it is not read again. */
  readonly isKnown?: ((file: SelectedFile) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((files: number) => void) | undefined;
}

/** Checks each file on disk and excludes what cannot or must not be sent. `paths` are in their final order. */
export async function inspectFiles(
  root: string,
  paths: readonly string[],
  { chosen, maxFileBytes, isKnown, signal, onProgress }: InspectOptions,
): Promise<Inspected> {
  const inspected: Inspected = { files: [], excluded: [], findings: [], totalBytes: 0 };
  const { files, excluded, findings } = inspected;
  const names = new NameTable({ ...LINUX_NAMES, isFolding: true });
  const folders = new RealFolders(root);
  const yielder = new Yielder(signal);
  const buffer = secretBuffer();
  for (const path of paths) {
    if (yielder.isDue) {
      await yielder.pause();
      onProgress?.(files.length);
    }
    const choice = chosen.get(path);
    const absolute = choice?.source ?? join(root, path);
    const isReached = choice?.source !== undefined || folders.areReal(dirname(path));
    const stats = isReached ? inspect(absolute) : LINK;
    if (stats !== undefined && 'reason' in stats) {
      excluded.push({ path, type: 'file', ...stats });
      continue;
    }
    // A name in invalid UTF-8 is not found by its decoded form; other missing files were deleted.
    const verdict = stats === undefined ? judgeMissing(path) : judgeFile(path, absolute, stats);
    if (verdict !== undefined) {
      excluded.push({ path, type: stats?.isDirectory() ? 'directory' : 'file', ...verdict });
      continue;
    }
    if (stats === undefined) continue;
    const { size, mtimeMs } = stats;
    // As sbatch does, a job runs a batch script by its first line, whatever its permissions.
    const isProgram = (stats.mode & 0o111) !== 0 || isBatchScriptName(path);
    const file = { path, size, mode: isProgram ? 0o755 : 0o644, mtimeMs };
    if (choice === undefined && size > maxFileBytes) {
      const rule = l10n.t('larger than {0}', formatBytes(maxFileBytes));
      excluded.push({ path, type: 'file', reason: 'limit', rule });
      continue;
    }
    if (choice?.mayHoldSecrets !== true) {
      const secret = isKnown?.(file) ? undefined : findSecret(absolute, size, buffer);
      if (secret !== undefined) {
        excluded.push({ path, type: 'file', reason: 'secret', rule: secret });
        findings.push({
          type: 'secret',
          path,
          message: l10n.t('{0} contains what looks like a secret ({1}), so it is not sent.', path, secret),
        });
        continue;
      }
    }
    const place = names.addFile(path);
    if ('twin' in place && place.twin !== undefined) {
      findings.push({
        type: 'same-name',
        path,
        message: l10n.t(
          '{0} has the same name as {1} on some systems. A service whose disk ignores case gives one of them another name.',
          path,
          place.twin,
        ),
      });
    }
    if (size >= LARGE_FILE_BYTES) {
      findings.push({
        type: 'large-file',
        path,
        message: l10n.t('{0} has {1}. Leave it out if the job does not need it.', path, formatBytes(size)),
      });
    }
    files.push(choice === undefined ? file : asChosen(file, choice));
    inspected.totalBytes += size;
  }
  onProgress?.(files.length);
  return inspected;
}

const LINK: Verdict = { reason: 'link', rule: l10n.t('links are not followed') };
const UNREADABLE: Verdict = { reason: 'unreadable', rule: l10n.t('no permission to read it') };

function asChosen(file: SelectedFile, { mayHoldSecrets, source }: ChosenFile): SelectedFile {
  const allowed: SelectedFile = mayHoldSecrets ? { ...file, mayHoldSecrets } : file;
  return source === undefined ? allowed : { ...allowed, source, isLinked: true };
}

/** A link that the user did not choose. */
function judgeLink(absolute: string): Verdict {
  try {
    return { reason: 'link', rule: l10n.t('leads to {0}', readlinkSync(absolute)) };
  } catch {
    return LINK; // it was replaced just now
  }
}

/** Undefined if the file does not exist. */
function inspect(absolute: string): Stats | Verdict | undefined {
  try {
    return lstatSync(absolute, { throwIfNoEntry: false });
  } catch {
    return UNREADABLE; // its folder can be listed but not entered
  }
}

function judgeMissing(path: string): Verdict | undefined {
  return path.includes('\ufffd') ? { reason: 'name', rule: l10n.t('its name is not valid UTF-8') } : undefined;
}

function judgeFile(path: string, absolute: string, stats: Stats): Verdict | undefined {
  if (stats.isSymbolicLink()) return judgeLink(absolute);
  if (!stats.isFile()) return { reason: 'special', rule: l10n.t('not a regular file') };
  const fault = judgeName(path);
  if (fault !== undefined) return { reason: 'name', rule: fault };
  if ((stats.mode & READABLE_BY_ALL) !== READABLE_BY_ALL && !isReadable(absolute)) {
    return UNREADABLE;
  }
  return undefined;
}

function isReadable(absolute: string): boolean {
  try {
    accessSync(absolute, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Checks which folders inside a root are reached without a link. A tracked folder may have been replaced by a link. */
class RealFolders {
  readonly #root: string;
  readonly #known = new Map<string, boolean>([['.', true]]);

  constructor(root: string) {
    this.#root = root;
  }

  areReal(folder: string): boolean {
    const cached = this.#known.get(folder);
    if (cached !== undefined) return cached;
    const isReal = this.areReal(dirname(folder)) && !isLink(join(this.#root, folder));
    this.#known.set(folder, isReal);
    return isReal;
  }
}

function isLink(absolute: string): boolean {
  const inspected = inspect(absolute);
  return inspected !== undefined && !('reason' in inspected) && inspected.isSymbolicLink();
}
