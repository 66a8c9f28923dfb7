import { statfs } from 'node:fs/promises';
import { messageOf } from '../../core/errors.ts';
import { formatBytes } from '../../core/format.ts';
import type { StoreFile } from '../store/storeFile.ts';

// Time to react: warned is when so many times the least is left.
const WARN_FACTOR = 2;
// Anybody may ask, as often as they like; the disk is asked this often.
const MAX_AGE_MS = 2_000;

export interface HealthOptions {
  readonly store: { readonly file: Pick<StoreFile, 'probe'> };
  /** The data folder. */
  readonly data: string;
  /** Below this no job is taken. */
  readonly minFreeBytes: number;
}

/** Knows what keeps the service from doing its work. */
export class Health {
  readonly #options: HealthOptions;
  #checked: { readonly at: number; readonly problems: Promise<readonly string[]> } | undefined;
  #isStopping = false;

  constructor(options: HealthOptions) {
    this.#options = options;
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

  /** What this user may still write into the file system of the data folder. @throws the system's error. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#options.data);
    return bavail * bsize;
  }

  /** What is wrong, in sentences; empty when all is well. */
  problems(): Promise<readonly string[]> {
    const now = performance.now();
    if (this.#checked === undefined || now - this.#checked.at > MAX_AGE_MS) {
      this.#checked = { at: now, problems: this.#check() };
    }
    return this.#checked.problems;
  }

  /** What will soon be wrong, in sentences. */
  async warnings(): Promise<readonly string[]> {
    const { minFreeBytes } = this.#options;
    const free = await this.freeBytes().catch(() => 0);
    if (free < minFreeBytes || free >= WARN_FACTOR * minFreeBytes) return [];
    return [`${this.#leftOf(free)} Free some, or shorten [retention].`];
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

  async #check(): Promise<readonly string[]> {
    return [problemOf(() => this.#options.store.file.probe()), await this.#diskProblem()].filter(
      (problem) => problem !== undefined,
    );
  }

  async #diskProblem(): Promise<string | undefined> {
    const { minFreeBytes } = this.#options;
    try {
      const free = await this.freeBytes();
      if (free >= minFreeBytes && free > 0) return undefined;
      return this.#leftOf(free);
    } catch (error) {
      return `The data folder cannot be read: ${messageOf(error)}.`;
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
