import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { AppError, assertNever, messageOf, systemCode } from '../../core/errors.ts';
import { nameBeside } from '../files/besideName.ts';
import { inodeOf, keepCopy, linkOver, linkWithoutReplacing } from '../files/fileMoves.ts';
import { writeFailure } from '../files/fileWriting.ts';
import { markOf } from '../files/localFile.ts';
import type { Yielder } from '../../core/processes/yielder.ts';
import { type ResultStep, saveSteps } from './resultSteps.ts';
import { ResultPlace, undoSteps } from './resultUndo.ts';

/**
 * Writes staged files into a folder: all planned changes, or none. The plan is on disk before it is executed, so that another process
 * can undo it if this one is killed (`recoverResults`).
 *
 * Staged files keep their names in the staging folder until it is removed. A file with both names was written here.
 */
export class ResultTransaction implements Disposable {
  readonly written: string[] = [];
  readonly #folder: string;
  readonly #label: string;
  readonly #place: ResultPlace;
  readonly #steps: ResultStep[] = [];
  readonly #parents = new Set<string>(['.']);
  readonly #made = new Set<string>();
  readonly #targets = new Set<string>();
  #done = 0;

  /** @param stagingName the name of the staging folder, which is in `folder`. */
  constructor(folder: string, stagingName: string, label: string) {
    this.#folder = folder;
    this.#label = label;
    this.#place = new ResultPlace(folder, stagingName);
  }

  writeNew(path: string): void {
    this.#plan(path, path);
  }

  /** Plans to write beside the local file, under the first free name. */
  writeBeside(path: string): void {
    this.#plan(path, this.#freeName(path, 1));
  }

  /** What earlier downloads of the job have written beside the local file. */
  *writtenBeside(path: string): Generator<string, void> {
    for (let number = 1; ; number += 1) {
      const name = this.#nameBeside(path, number);
      if (!this.has(name)) return;
      yield name;
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
  replace(path: string, mark: string): void {
    this.#planParents(path);
    this.#steps.push({ type: 'replace', source: path, target: path, mark, backup: String(this.#steps.length) });
    this.written.push(path);
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

  #freeName(path: string, first: number): string {
    for (let number = first; ; number++) {
      const name = this.#nameBeside(path, number);
      if (!this.#targets.has(name) && !this.has(name)) return name;
    }
  }

  #nameBeside(path: string, number: number): string {
    return nameBeside(path, `job ${this.#label}`, number);
  }

  /** Plans the missing parent folders. Refuses links, which could lead out of the folder, and files. */
  #planParents(path: string): void {
    const parent = posix.dirname(path);
    if (this.#parents.has(parent)) return;
    this.#planParents(parent);
    const stats = this.#made.has(posix.dirname(parent)) ? undefined : this.#look(parent);
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
      return lstatSync(this.#place.target(path), { throwIfNoEntry: false });
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
