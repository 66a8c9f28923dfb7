import { statfs } from 'node:fs/promises';
import { messageOf } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import type { Executor } from '../executor/executor.ts';
import type { StoreFile } from '../store/database/storeFile.ts';

// A warning at this multiple of the minimum leaves time to react.
const WARN_FACTOR = 2;
// However often anyone requests the health, the disk is checked at this interval.
const MAX_AGE_MS = 2_000;

export interface HealthOptions {
  readonly store: { readonly file: Pick<StoreFile, 'probe'> };
  /** The data folder, and the one with the files of jobs. */
  readonly folders: readonly string[];
  /** Free space below which jobs are refused. */
  readonly minFreeBytes: number;
}

/** What is wrong now and what will be soon, in sentences. */
interface State {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Finds what prevents the service from running jobs. */
export class Health {
  readonly #options: HealthOptions;
  #checked: { readonly at: number; readonly state: Promise<State> } | undefined;
  #isStopping = false;
  #executor: Pick<Executor, 'refusal'> | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Includes the refusals of an executor. */
  watch(executor: Pick<Executor, 'refusal'>): void {
    this.#executor = executor;
  }

  /** Why no job can be started, so that submissions are refused; undefined if jobs can. */
  get executorRefusal(): string | undefined {
    return this.#executor?.refusal();
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Refuses everything new from now on. */
  stop(): void {
    this.#isStopping = true;
  }

  get minFreeBytes(): number {
    return this.#options.minFreeBytes;
  }

  /** Bytes that this user can still write to the folders' file system, the fuller one of two. @throws the system's error. */
  async freeBytes(): Promise<number> {
    const disks = await Promise.all([...new Set(this.#options.folders)].map((folder) => statfs(folder)));
    return Math.min(...disks.map(({ bavail, bsize }) => bavail * bsize));
  }

  /** What is wrong, in sentences; empty if the service is healthy. */
  async problems(): Promise<readonly string[]> {
    const refusal = this.executorRefusal;
    return [...(refusal === undefined ? [] : [refusal]), ...(await this.#state()).problems];
  }

  /** What will soon be wrong, in sentences. */
  async warnings(): Promise<readonly string[]> {
    return (await this.#state()).warnings;
  }

  /** Why a submission of this size is refused now; undefined if it is not. */
  async refusal(uploadBytes: number): Promise<string | undefined> {
    const { minFreeBytes } = this.#options;
    const free = await this.freeBytes();
    if (free - uploadBytes >= minFreeBytes) return undefined;
    return `The service takes no job now: its disk has ${formatBytes(free)} left, of which ${formatBytes(minFreeBytes)} are reserved for running jobs. Try again later, or ask the operator of the service.`;
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
