import { lstatSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { systemCode } from '../../core/errors.ts';
import { nameBeside } from '../files/nameRules.ts';
import { inodeOf, isMadeOf, linkWithoutReplacing, moveOver } from '../files/fileMoves.ts';
import { PinnedFolders } from '../files/pinnedFolders.ts';
import type { ResultStep } from './resultSteps.ts';

/** Paths in a staging folder and in the folder that contains it, each for one system call. */
export class ResultPlace {
  readonly #folders: PinnedFolders;
  readonly #files: PinnedFolders;
  readonly #name: string;

  /**
   * @param name the name of the staging folder.
   * @throws the system's error if one of the folders does not exist, or the one for files is a link.
   */
  constructor(folder: string, name: string) {
    this.#folders = new PinnedFolders(folder);
    this.#name = name;
    try {
      this.#files = new PinnedFolders(this.#folders.at(`${name}/files`), true);
    } catch (error) {
      this.#folders.dispose();
      throw error;
    }
  }

  dispose(): void {
    this.#files.dispose();
    this.#folders.dispose();
  }

  target(path: string): string {
    return this.#folders.at(path);
  }

  source(path: string): string {
    return this.#files.at(path);
  }

  /** A file that is created before the first step. Newer files were edited since, by the clock of their own file system. */
  get begun(): string {
    return this.#folders.at(`${this.#name}/begun`);
  }

  get backups(): string {
    return this.#folders.at(`${this.#name}/replaced`);
  }

  backup(name: string): string {
    return this.#folders.at(`${this.#name}/replaced/${name}`);
  }

  /** A path beside a target, for an incomplete copy. */
  part(path: string): string {
    const slash = path.lastIndexOf('/');
    return this.#folders.at(`${path.slice(0, slash + 1)}${this.#name}.part`);
  }
}

export interface Undone {
  /** Number of files that were removed or restored. */
  readonly files: number;
  /** Originals that were restored beside files that changed since: paths in the folder. */
  readonly beside: readonly string[];
  /** Changes that could not be undone, and why. */
  readonly failed: readonly { readonly path: string; readonly error: unknown }[];
}

/**
 * Undoes steps that were executed completely, partly or not at all, newest first. The files show which, so this can be interrupted at any
 * moment and repeated. It needs no disk space. Files that were edited since are kept.
 *
 * @param label the job, for file names.
 */
export function undoSteps(steps: readonly ResultStep[], place: ResultPlace, label: string): Undone {
  const beside: string[] = [];
  const failed: { path: string; error: unknown }[] = [];
  let files = 0;
  const begunAt = lstatSync(place.begun, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
  const isOurs = (target: string, source: string): boolean => {
    if (!isMadeOf(target, source)) return false;
    if (begunAt === undefined || inodeOf(target) !== inodeOf(source)) return true;
    return lstatSync(target, { bigint: true }).mtimeNs <= begunAt;
  };

  const undoNew = (source: string, target: string): void => {
    rmSync(place.part(target), { force: true });
    const file = place.target(target);
    if (!isOurs(file, place.source(source))) return;
    rmSync(file);
    files += 1;
  };

  const undoReplace = (step: Extract<ResultStep, { type: 'replace' }>): void => {
    rmSync(place.part(step.target), { force: true });
    const [backup, target, source] = [place.backup(step.backup), place.target(step.target), place.source(step.source)];
    const [kept, found] = [inodeOf(backup), inodeOf(target)];
    if (kept === undefined) return; // not executed, or already undone
    if (found !== undefined && (found === kept || step.mark.startsWith(`${found}:`))) {
      rmSync(backup);
      return;
    }
    if (found === undefined || isOurs(target, source)) {
      moveOver(backup, target, () => place.part(step.target));
      files += 1;
      return;
    }
    for (let number = 1; ; number++) {
      const name = nameBeside(step.target, `before job ${label}`, number);
      if (!linkWithoutReplacing(backup, place.target(name), () => place.part(name))) continue;
      rmSync(backup);
      beside.push(name);
      return;
    }
  };

  const undoMove = ({ target, to, inode }: Extract<ResultStep, { type: 'move' }>): void => {
    const moved = place.target(to);
    if (inodeOf(moved) !== inode) return; // not executed, or already undone
    // Somebody has put something else there since.
    if (inodeOf(place.target(target)) !== undefined) beside.push(to);
    else {
      renameSync(moved, place.target(target));
      files += 1;
    }
  };

  for (const step of steps.toReversed()) {
    try {
      if (step.type === 'folder') rmdirSync(place.target(step.target));
      else if (step.type === 'move') undoMove(step);
      else if (step.type === 'new') undoNew(step.source, step.target);
      else undoReplace(step);
    } catch (error) {
      // A folder that is not empty stays. In a missing folder, nothing was created.
      const isDone = step.type === 'folder' || (step.type === 'new' && systemCode(error) === 'ENOENT');
      if (!isDone) failed.push({ path: step.target, error });
    }
  }
  return { files, beside, failed };
}
