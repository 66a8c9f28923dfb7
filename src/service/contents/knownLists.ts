import type { TarPosition } from '../../workspace/archive/tarReader.ts';
import type { KnownRun } from '../../workspace/extract/planTar.ts';

// An entry takes about 200 bytes.
const MAX_ENTRIES = 200_000;

/**
 * Remembers what the lists of submissions contain, so that a list that was checked before need not be read again. Each account has its own
 * memory, because otherwise the time of a submission would tell what others have sent.
 */
export class KnownLists {
  /** The ones used last at the end. */
  readonly #runs = new Map<string, KnownRun>();
  #entries = 0;

  /** What a list contains if it is read from a position; undefined if that is not known. */
  find(account: string, list: Buffer, from: TarPosition): KnownRun | undefined {
    const key = keyOf(account, list, from);
    const run = this.#runs.get(key);
    if (run === undefined) return undefined;
    this.#runs.delete(key);
    this.#runs.set(key, run);
    return run;
  }

  add(account: string, list: Buffer, from: TarPosition, run: KnownRun): void {
    const key = keyOf(account, list, from);
    if (this.#runs.has(key)) return;
    this.#runs.set(key, run);
    this.#entries += costOf(run);
    for (const [other, known] of this.#runs) {
      if (this.#entries <= MAX_ENTRIES) break;
      this.#runs.delete(other);
      this.#entries -= costOf(known);
    }
  }
}

function keyOf(account: string, list: Buffer, { body, padding, emptyBlocks }: TarPosition): string {
  return `${list.toString('hex')} ${body} ${padding} ${emptyBlocks} ${account}`;
}

/** A run without entries takes memory too. Long names count as more entries. */
function costOf({ events }: KnownRun): number {
  return events.reduce((sum, entry) => sum + (entry === null ? 0.1 : 1 + entry.name.length / 200), 1);
}
