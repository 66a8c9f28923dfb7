import { readFileSync, readdirSync } from 'node:fs';

const SAMPLE_MS = 200;

/**
 * Watches how much memory processes take. A process is found by words of its command line, so that also one which others
 * start, and which detaches itself, is watched. Linux only: the figures are the kernel's own (`VmHWM` of `/proc`), which
 * miss nothing between two looks.
 */
export class PeakMemory implements Disposable {
  readonly #words: ReadonlyMap<string, readonly string[]>;
  readonly #peaks = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  /** @param words for each name under which a figure is wanted, the words that its command line contains. */
  constructor(words: Readonly<Record<string, readonly string[]>>) {
    this.#words = new Map(Object.entries(words));
    this.#timer = setInterval(() => this.#look(), SAMPLE_MS);
  }

  /** Megabytes of each name, the highest until now; 0 for a process that was never there. */
  get megabytes(): ReadonlyMap<string, number> {
    return new Map([...this.#words.keys()].map((name) => [name, this.#peaks.get(name) ?? 0]));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const id of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
      const command = read(`/proc/${id}/cmdline`);
      for (const [name, words] of this.#words) {
        if (!words.every((word) => command.includes(word))) continue;
        const kilobytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${id}/status`))?.[1] ?? 0);
        this.#peaks.set(name, Math.max(this.#peaks.get(name) ?? 0, (kilobytes * 1024) / 1e6));
      }
    }
  }
}

/** The text of a file; empty for one that is gone, as those of a process that ended are. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
