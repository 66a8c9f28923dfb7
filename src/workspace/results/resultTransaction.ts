import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { AppError, assertNever, messageOf, systemCode } from '../../core/errors.ts';
import { nameBeside } from '../files/nameRules.ts';
import { inodeOf, keepCopy, linkOver, linkWithoutReplacing } from '../files/fileMoves.ts';
import { writeFailure } from '../files/fileWriting.ts';
import { markOf } from '../files/localFile.ts';
import type { Yielder } from '../../core/processes/yielder.ts';
import { type ResultStep, saveSteps } from './resultSteps.ts';
import { ResultPlace, undoSteps } from './resultUndo.ts';

export interface MovedFile {
  readonly path: string;
  readonly to: string;
}

/**
 * Writes staged files into a folder: all planned changes, or none. The plan is on disk before it is executed, so that another process
 * can undo it if this one is killed (`recoverResults`).
 *
 * Staged files keep their names in the staging folder until it is removed. A file with both names was written here.
 */
export class ResultTransaction implements Disposable {
  readonly written: string[] = [];
  /** What was in the way of results, and the names that it has got. */
  readonly moved: MovedFile[] = [];
  readonly #folder: string;
  readonly #label: string;
  readonly #place: ResultPlace;
  readonly #steps: ResultStep[] = [];
  readonly #parents = new Set<string>(['.']);
  readonly #made = new Set<string>();
  readonly #targets = new Set<string>();
  /** What gets another name, and folders that are written under another name because something is in their place. */
  readonly #moved = new Map<string, string>();
  readonly #beside = new Map<string, string>();
  #done = 0;

  /** @param stagingName the name of the staging folder, which is in `folder`. */
  constructor(folder: string, stagingName: string, label: string) {
    this.#folder = folder;
    this.#label = label;
    this.#place = new ResultPlace(folder, stagingName);
  }

  writeNew(path: string, target = path): void {
    this.#plan(path, target);
  }

  /** Plans to write beside the local file, or beside what is in the way, under the first free name. */
  writeBeside(path: string): void {
    const target = this.#besideObstacle(path);
    this.#plan(path, target === path ? this.#freeName(path, 1) : target);
  }

  /** Plans to move what is in the way of a path aside, and to write it. */
  writeInPlace(path: string, target = path): void {
    const obstacle = this.#obstacleOf(target);
    if (obstacle !== undefined) {
      const to = this.#freeName(obstacle.path, 1, 'before job');
      this.#steps.push({ type: 'move', target: obstacle.path, to, inode: obstacle.inode });
      this.#targets.add(to);
      this.#moved.set(obstacle.path, to);
      this.moved.push({ path: obstacle.path, to });
    }
    this.#plan(path, target);
  }

  /** What earlier downloads of the job have written beside the local file, or beside what is in the way. */
  *writtenBeside(path: string): Generator<string, void> {
    const occupied = this.#obstacleOf(path)?.path ?? path;
    for (let number = 1; ; number += 1) {
      const name = nameBeside(occupied, `job ${this.#label}`, number);
      const target = name + path.slice(occupied.length);
      if (!this.has(name) || this.#obstacleOf(target) !== undefined || !this.has(target)) return;
      yield target;
    }
  }

  /** Plans to write to `target`, or beside it if it exists. Returns the path. */
  setAside(path: string, target: string): string {
    this.#planParents(target);
    const free = this.has(target) ? this.#freeName(target, 1) : target;
    this.#plan(path, free);
    return free;
  }

  /** Plans to replace the local file if it still has this mark. */
  replace(path: string, { mark, target = path }: { readonly mark: string; readonly target?: string }): void {
    this.#planParents(target);
    this.#steps.push({ type: 'replace', source: path, target, mark, backup: String(this.#steps.length) });
    this.written.push(target);
  }

  /** Whether the path exists. */
  has(path: string): boolean {
    try {
      return !this.#made.has(posix.dirname(path)) && inodeOf(this.#place.target(path)) !== undefined;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return false; // nor does its folder
      throw error;
    }
  }

  /**
   * Executes the plan.
   *
   * @param journal the file that contains the steps meanwhile. It is removed, unless something could not be undone.
   * @throws AppError `conflict` if a local file appeared or changed since, `refused` if a folder was replaced, other errors of writing, or
   * the reason of the yielder's signal. Everything is then undone.
   */
  async commit(journal: string, yielder: Yielder): Promise<void> {
    if (this.#steps.length === 0) return;
    this.#prepare(journal);
    try {
      for (const step of this.#steps) {
        if (yielder.isDue) await yielder.pause();
        this.#do(step);
        this.#done += 1;
      }
    } catch (error) {
      throw this.#rollBack(error, journal);
    }
    rmSync(journal); // now everything counts as written
  }

  [Symbol.dispose](): void {
    this.#place.dispose();
  }

  /** Creates what an undo needs. The journal comes last, so if it exists, everything else does. */
  #prepare(journal: string): void {
    try {
      writeFileSync(this.#place.begun, ' ');
      if (this.#steps.some(({ type }) => type === 'replace')) mkdirSync(this.#place.backups, { recursive: true });
      saveSteps(journal, { label: this.#label, steps: this.#steps });
    } catch (error) {
      throw writeFailure(error, this.#folder);
    }
  }

  #do(step: ResultStep): void {
    switch (step.type) {
      case 'folder':
        mkdirSync(this.#place.target(step.target));
        return;
      case 'move': {
        const [target, to] = [this.#place.target(step.target), this.#place.target(step.to)];
        if (inodeOf(target) !== step.inode || inodeOf(to) !== undefined) throw changedMeanwhile(step.target);
        renameSync(target, to);
        return;
      }
      case 'new': {
        const target = this.#place.target(step.target);
        if (linkWithoutReplacing(this.#place.source(step.source), target, () => this.#place.part(step.target))) return;
        if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) throw isFolder(step.target);
        throw changedMeanwhile(step.target);
      }
      case 'replace': {
        const target = this.#place.target(step.target);
        const stats = lstatSync(target, { bigint: true, throwIfNoEntry: false });
        if (stats?.isDirectory()) throw isFolder(step.target);
        if (stats === undefined || markOf(stats) !== step.mark) throw changedMeanwhile(step.target);
        keepCopy(target, this.#place.backup(step.backup), () => this.#place.backup(`${step.backup}.part`));
        linkOver(this.#place.source(step.source), target, () => this.#place.part(step.target));
        return;
      }
      default:
        assertNever(step);
    }
  }

  /** Undoes every step, and returns the error to throw, which names the files that could not be restored. */
  #rollBack(error: unknown, journal: string): unknown {
    const failure = writeFailure(error, this.#folder);
    // A failed replacement may be half done.
    const begun = this.#steps
      .slice(0, this.#done + 1)
      .filter((step, index) => index < this.#done || step.type === 'replace');
    const { failed } = undoSteps(begun, this.#place, this.#label);
    if (failed.length === 0) {
      rmSync(journal, { force: true });
      return failure;
    }
    const paths = failed.map(({ path }) => path).join(', ');
    return new AppError(
      'corrupt',
      `${messageOf(failure)} These files could not be restored yet: ${paths}. The originals are kept, and the next farwharf command tries again.`,
      { cause: error },
    );
  }

  #plan(source: string, target: string): void {
    this.#planParents(target);
    this.#steps.push({ type: 'new', source, target });
    this.#targets.add(target);
    this.written.push(target);
  }

  #freeName(path: string, first: number, label = 'job'): string {
    for (let number = first; ; number++) {
      const name = nameBeside(path, `${label} ${this.#label}`, number);
      if (!this.#targets.has(name) && !this.has(name)) return name;
    }
  }

  /** What is in the way of a path now: a folder in its place, or something else in place of a folder above it. */
  #obstacleOf(path: string): { readonly path: string; readonly inode: string } | undefined {
    const names = path.split('/');
    for (let count = 1; count <= names.length; count += 1) {
      const at = names.slice(0, count).join('/');
      if (this.#made.has(at)) return undefined;
      if (this.#moved.has(at)) return undefined;
      const stats = this.#look(at);
      if (stats === undefined) return undefined;
      if (stats.isDirectory() === count < names.length) continue;
      return { path: at, inode: `${stats.dev}:${stats.ino}` };
    }
    return undefined;
  }

  /** The path beside what is in the way of it, in a folder that all results below share. */
  #besideObstacle(path: string): string {
    const obstacle = this.#obstacleOf(path);
    if (obstacle === undefined || obstacle.path === path) return path;
    const folder = this.#beside.get(obstacle.path) ?? this.#freeName(obstacle.path, 1);
    this.#beside.set(obstacle.path, folder);
    this.#targets.add(folder);
    return folder + path.slice(obstacle.path.length);
  }

  /** Plans the missing parent folders. Refuses links, which could lead out of the folder, and files. */
  #planParents(path: string): void {
    const parent = posix.dirname(path);
    if (this.#parents.has(parent)) return;
    this.#planParents(parent);
    const isMissing = this.#made.has(posix.dirname(parent)) || this.#moved.has(parent);
    const stats = isMissing ? undefined : this.#look(parent);
    if (stats === undefined) {
      this.#steps.push({ type: 'folder', target: parent });
      this.#made.add(parent);
    } else if (!stats.isDirectory()) {
      const what = stats.isSymbolicLink() ? 'a link' : 'a file';
      throw new AppError(
        'refused',
        `${path} was not written: ${parent} is ${what} here. Move it away or skip this result.`,
      );
    }
    this.#parents.add(parent);
  }

  #look(path: string) {
    try {
      return lstatSync(this.#place.target(path), { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      throw systemCode(error) === 'ENOENT' ? changedMeanwhile(path) : error;
    }
  }
}

function isFolder(path: string): AppError {
  return new AppError('refused', `${path} was not written: it is a folder here. Move it away or skip this result.`);
}

function changedMeanwhile(path: string): AppError {
  return new AppError(
    'conflict',
    `${path} changed after the results were compared, so nothing was written. Compare again.`,
  );
}
