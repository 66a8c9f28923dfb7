import type { FolderState, FolderStatus } from './indexService.ts';
import { AppError, messageOf } from '../../core/errors.ts';

/** What an open folder's index is doing. */
export class FolderActivity {
  /** Whether the whole folder is being read. */
  isBuilding = true;
  /** Whether much is to be read while saving energy. */
  isHeldBack = false;
  progress: FolderStatus['progress'];
  updatedAt: number | undefined;
  #isPaused = false;
  #resumed = Promise.withResolvers<void>();
  #problem: FolderStatus['problem'];

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Resolves when the folder is resumed. */
  get resumed(): Promise<void> {
    return this.#resumed.promise;
  }

  /** Whether nothing can be indexed now. */
  get isStopped(): boolean {
    return this.#isPaused || this.isHeldBack || this.#problem !== undefined;
  }

  pause(): void {
    this.#isPaused = true;
    this.#resumed = Promise.withResolvers<void>();
  }

  /** Also ends a wait for `resumed` when the folder is closed. */
  resume(): void {
    this.#isPaused = false;
    this.#resumed.resolve();
  }

  /** A batch of changes was indexed. */
  succeed(): void {
    this.#problem = undefined;
    this.isBuilding = false;
    this.updatedAt = Date.now();
  }

  fail(failure: unknown): void {
    this.#problem = problemOf(failure);
    this.progress = undefined;
  }

  /** The activity as part of a folder's status; `indexProblem` is why its index cannot be written. */
  status(indexProblem: unknown): Pick<FolderStatus, 'state' | 'progress' | 'updatedAt' | 'problem'> {
    const problem = this.#problem ?? problemOf(indexProblem);
    return { state: this.#state(problem), progress: this.progress, updatedAt: this.updatedAt, problem };
  }

  #state(problem: FolderStatus['problem']): FolderState {
    if (this.#isPaused) return 'paused';
    if (this.isHeldBack) return 'waiting';
    if (problem !== undefined) return 'error';
    return this.isBuilding ? 'building' : 'ready';
  }
}

/** A failure as shown in the status of a folder; empty if there is none. */
function problemOf(error: unknown): FolderStatus['problem'] {
  if (error === undefined) return undefined;
  return { code: error instanceof AppError ? error.code : 'failed', message: messageOf(error) };
}
