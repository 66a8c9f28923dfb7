import { constants, copyFileSync, linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { AppError, messageOf, systemCode } from '../core/errors.ts';
import { writeFailure } from './fileWriting.ts';
import { type LocalFile, LocalFiles } from './localFile.ts';

// Where a file system has no hard links, these are its answers.
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL']);

type Step =
  | { readonly type: 'made'; readonly path: string; readonly source: string }
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'replaced'; readonly path: string; readonly source: string; readonly backup: string };

/**
 * Writes staged files into a folder, each by one atomic step, and can take all of it back. New files never replace
 * anything; replaced ones are kept in the staging folder until that goes.
 */
export class ResultTransaction {
  readonly written: string[] = [];
  readonly #staging: string;
  readonly #folder: string;
  readonly #backups: string;
  readonly #steps: Step[] = [];
  readonly #realFolders = new Set<string>(['.']);

  constructor(staging: string, folder: string) {
    this.#staging = staging;
    this.#folder = folder;
    this.#backups = join(dirname(staging), 'replaced');
  }

  /** @throws AppError `conflict` when something stands there. */
  writeNew(path: string): void {
    this.#makeParents(path);
    if (this.#place(path, path)) return;
    if (lstatSync(join(this.#folder, path), { throwIfNoEntry: false })?.isDirectory()) {
      throw new AppError('refused', `${path} was not written: it is a folder here. Move it away or skip this result.`);
    }
    throw changedMeanwhile(path);
  }

  /** Writes beside the local file, under the first free name. */
  writeBeside(path: string, label: string): void {
    this.#makeParents(path);
    for (let number = 1; ; number++) {
      if (this.#place(path, nameBeside(path, label, number))) return;
    }
  }

  /** @throws AppError `conflict` when the local file is not the one that bears the mark. */
  replace(path: string, mark: string): void {
    this.#makeParents(path);
    this.#assertMark(path, mark);
    mkdirSync(this.#backups, { recursive: true });
    const backup = join(this.#backups, String(this.#steps.length));
    const absolute = join(this.#folder, path);
    const source = join(this.#staging, path);
    keepCopy(absolute, backup);
    renameSync(source, absolute); // one step: there is always a whole file at this path
    this.#steps.push({ type: 'replaced', path, source, backup });
    this.written.push(path);
  }

  /** Takes back every step, newest first, and gives the error to throw: it names what could not be taken back. */
  rollBack(error: unknown): unknown {
    const left: string[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        this.#undo(step);
      } catch {
        if (step.type !== 'folder') left.push(step.path);
      }
    }
    const failure = writeFailure(error, this.#folder);
    if (left.length === 0) return failure;
    return new AppError(
      'conflict',
      `${messageOf(failure)} These files could not be put back and are kept in ${this.#backups}: ${left.join(', ')}.`,
      { cause: error },
    );
  }

  #undo(step: Step): void {
    const absolute = join(this.#folder, step.path);
    switch (step.type) {
      case 'made':
        renameSync(absolute, step.source);
        return;
      case 'folder':
        rmdirSync(absolute);
        return;
      case 'replaced':
        renameSync(absolute, step.source);
        renameSync(step.backup, absolute);
    }
  }

  /** Puts a staged file in place unless something is there. */
  #place(path: string, target: string): boolean {
    const source = join(this.#staging, path);
    if (!moveWithoutReplacing(source, join(this.#folder, target))) return false;
    this.#steps.push({ type: 'made', path: target, source });
    this.written.push(target);
    return true;
  }

  #assertMark(path: string, mark: string): void {
    const found: LocalFile = new LocalFiles(this.#folder).look(path);
    if ((found.type !== 'file' && found.type !== 'other') || found.mark !== mark) throw changedMeanwhile(path);
  }

  /** Makes missing folders; refuses links and files on the way, which could lead out of the folder. */
  #makeParents(path: string): void {
    const parent = posix.dirname(path);
    if (this.#realFolders.has(parent)) return;
    this.#makeParents(parent);
    const absolute = join(this.#folder, parent);
    const stats = lstatSync(absolute, { throwIfNoEntry: false });
    if (stats === undefined) {
      mkdirSync(absolute);
      this.#steps.push({ type: 'folder', path: parent });
    } else if (!stats.isDirectory()) {
      const what = stats.isSymbolicLink() ? 'a link' : 'a file';
      throw new AppError(
        'refused',
        `${path} was not written: ${parent} is ${what} here. Move it away or skip this result.`,
      );
    }
    this.#realFolders.add(parent);
  }
}

/** `plots/loss (job 7).png`, then `plots/loss (job 7) 2.png`. */
function nameBeside(path: string, label: string, number: number): string {
  const { dir, name, ext } = posix.parse(path);
  const safeLabel = label.replace(/[^\w.-]+/g, '_').slice(0, 64);
  return posix.join(dir, `${name} (job ${safeLabel})${number === 1 ? '' : ` ${number}`}${ext}`);
}

/** Gives false where the target exists. A hard link is the one way to move a file that never replaces another. */
function moveWithoutReplacing(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
    return copyWithoutReplacing(from, to);
  }
  rmSync(from);
  return true;
}

function keepCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(systemCode(error) ?? '')) throw error;
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

function copyWithoutReplacing(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    rmSync(to, { force: true }); // half of a copy, when the disk is full
    throw error;
  }
}

function changedMeanwhile(path: string): AppError {
  return new AppError(
    'conflict',
    `${path} changed after the results were compared, so nothing was written. Compare again.`,
  );
}
