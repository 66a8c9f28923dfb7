/** The limits of one reading. Flows written by people stay far below; code that multiplies itself does not. */
const LIMITS = {
  /** In addition to the steps for the length of the file; enough for flows that helpers and loops build. */
  step: 200_000,
  node: 4_000,
  connection: 10_000,
  /** Copied items of lists and objects, and variables merged after branches. */
  value: 500_000,
  /** Keys and actions of nodes. */
  fact: 30_000,
  /** Characters in the names of nodes, connections and keys. */
  character: 4_000_000,
  /** Characters of the file and of its imports. */
  letter: 4_000_000,
  /** Characters searched for code that creates flows. */
  scan: 50_000_000,
  /** Depth of nested flows; also exceeded by calls and expressions nested deeper than the stack allows. */
  level: 50,
  millisecond: 5_000,
} as const;

type Limit = keyof typeof LIMITS;

const NAMES: Readonly<Record<Limit, string>> = {
  step: 'steps',
  node: 'nodes',
  connection: 'connections',
  value: 'list items and variables to copy',
  fact: 'keys and actions',
  character: 'characters in names',
  letter: 'characters of source',
  scan: 'characters of functions inside functions',
  level: 'levels of nesting',
  millisecond: 'milliseconds',
};

const STEPS_PER_LETTER = 2;
// The clock is the last resort, because a reading should not depend on the speed of the machine.
const STEPS_PER_LOOK = 64;

/** Ends the reading of a file that exceeds a limit; what was found before is shown. */
export class ReadingLimitError extends Error {}

/** Counts the cost of reading one file, and ends the reading at the first exceeded limit. */
export class ReadingLimit {
  readonly #spent = new Map<Limit, number>();
  readonly #steps: number;
  readonly #deadline = performance.now() + LIMITS.millisecond;
  #untilLook = STEPS_PER_LOOK;
  #exceeded: Limit | undefined;

  /** @param length of the file that is read. */
  constructor(length: number) {
    this.#steps = LIMITS.step + STEPS_PER_LETTER * Math.min(length, LIMITS.letter);
  }

  /** @throws ReadingLimitError if that exceeds the limit, and on each later call. */
  spend(limit: Limit, amount = 1): void {
    const spent = (this.#spent.get(limit) ?? 0) + amount;
    this.#spent.set(limit, spent);
    if (spent > this.#limitOf(limit)) this.#exceeded ??= limit;
    this.#untilLook -= amount;
    if (this.#untilLook <= 0) {
      this.#untilLook = STEPS_PER_LOOK;
      if (performance.now() > this.#deadline) this.#exceeded ??= 'millisecond';
    }
    if (this.#exceeded !== undefined) throw new ReadingLimitError(this.#exceeded);
  }

  /** Whether this limit is not exceeded, even if others are; what was found before is shown. */
  afford(limit: Limit, amount: number): boolean {
    const spent = (this.#spent.get(limit) ?? 0) + amount;
    this.#spent.set(limit, spent);
    if (spent > this.#limitOf(limit)) this.#exceeded ??= limit;
    return spent <= this.#limitOf(limit);
  }

  /** Marks a limit as exceeded after a part of the reading has failed. */
  exceed(limit: Limit): void {
    this.#exceeded ??= limit;
  }

  get isExceeded(): boolean {
    return this.#exceeded !== undefined;
  }

  /** The exceeded limit as a sentence; undefined if there is none. */
  get problem(): string | undefined {
    const limit = this.#exceeded;
    if (limit === undefined) return undefined;
    const most = `${this.#limitOf(limit).toLocaleString('en-US')} ${NAMES[limit]}`;
    return `The file is too large to read completely: it takes more than ${most}. Some of its flows may be missing.`;
  }

  #limitOf(limit: Limit): number {
    return limit === 'step' ? this.#steps : LIMITS[limit];
  }
}
