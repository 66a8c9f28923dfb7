import { statfs } from 'node:fs/promises';
import { messageOf } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import type { Executor } from '../executor/executor.ts';
import type { StoreFile } from '../store/database/storeFile.ts';

// Time to react: warned is when so many times the least is left.
const WARN_FACTOR = 2;
// Anybody may ask, as often as they like; the disk is asked this often.
const MAX_AGE_MS = 2_000;

export interface HealthOptions {
  readonly store: { readonly file: Pick<StoreFile, 'probe'> };
  /** The data folder, and the one with the files of jobs. */
  readonly folders: readonly string[];
  /** Below this no job is taken. */
  readonly minFreeBytes: number;
}

/** What is wrong, and what soon will be, in sentences. */
interface State {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Knows what keeps the service from doing its work. */
export class Health {
  readonly #options: HealthOptions;
  #checked: { readonly at: number; readonly state: Promise<State> } | undefined;
  #isStopping = false;
  #executor: Pick<Executor, 'refusal'> | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Takes what starts the jobs into account. */
  watch(executor: Pick<Executor, 'refusal'>): void {
    this.#executor = executor;
  }

  /** Why no job can be started, and none is taken therefore; undefined where jobs can. */
  get executorRefusal(): string | undefined {
    return this.#executor?.refusal();
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** From now on the service takes nothing new. */
  stop(): void {
    this.#isStopping = true;
  }

  get minFreeBytes(): number {
    return this.#options.minFreeBytes;
  }

  /** What this user may still write into the file system of the folders, the fuller one. @throws the system's error. */
  async freeBytes(): Promise<number> {
    const disks = await Promise.all([...new Set(this.#options.folders)].map((folder) => statfs(folder)));
    return Math.min(...disks.map(({ bavail, bsize }) => bavail * bsize));
  }

  /** What is wrong, in sentences; empty when all is well. */
  async problems(): Promise<readonly string[]> {
    const refusal = this.executorRefusal;
    return [...(refusal === undefined ? [] : [refusal]), ...(await this.#state()).problems];
  }

  /** What will soon be wrong, in sentences. */
  async warnings(): Promise<readonly string[]> {
    return (await this.#state()).warnings;
  }

  /** Why a job of this size is not taken now; undefined where it is. */
  async refusal(uploadBytes: number): Promise<string | undefined> {
    const { minFreeBytes } = this.#options;
    const free = await this.freeBytes();
    if (free - uploadBytes >= minFreeBytes) return undefined;
    return `The service takes no job now: its disk has ${formatBytes(free)} left, and ${formatBytes(minFreeBytes)} are kept for the jobs that run. Try again later, or ask whoever runs it.`;
  }

  #leftOf(free: number): string {
    return `The disk of the data folder has ${formatBytes(free)} left; below ${formatBytes(this.#options.minFreeBytes)} no job is taken.`;
  }

  #state(): Promise<State> {
    const now = performance.now();
    if (this.#checked === undefined || now - this.#checked.at > MAX_AGE_MS) {
      this.#checked = { at: now, state: this.#check() };
    }
    return this.#checked.state;
  }

  async #check(): Promise<State> {
    const store = problemOf(() => this.#options.store.file.probe());
    const disk = await this.#checkDisk();
    return { ...disk, problems: [...(store === undefined ? [] : [store]), ...disk.problems] };
  }

  async #checkDisk(): Promise<State> {
    const { minFreeBytes } = this.#options;
    try {
      const free = await this.freeBytes();
      if (free < minFreeBytes || free === 0) return { problems: [this.#leftOf(free)], warnings: [] };
      if (free >= WARN_FACTOR * minFreeBytes) return { problems: [], warnings: [] };
      return { problems: [], warnings: [`${this.#leftOf(free)} Free some, or shorten [retention].`] };
    } catch (error) {
      return { problems: [`The data folder cannot be read: ${messageOf(error)}.`], warnings: [] };
    }
  }
}

function problemOf(probe: () => void): string | undefined {
  try {
    probe();
    return undefined;
  } catch (error) {
    return `The store cannot be written: ${messageOf(error)}.`;
  }
}
