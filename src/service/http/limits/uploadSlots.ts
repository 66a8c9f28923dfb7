import type { IncomingMessage } from 'node:http';

// The slowest line that keeps its slot while others wait: as for other bodies.
const MIN_BYTES_PER_MS = 8;
const GRACE_MS = 30_000;

/** A request whose body is being received. */
type ReceivedRequest = Pick<IncomingMessage, 'complete' | 'destroy'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'bytesRead'>;
};

interface OpenUpload {
  readonly accountId: string;
  readonly incoming: ReceivedRequest;
  readonly startedAt: number;
  /** What its connection had received before. */
  readonly bytesBefore: number;
}

/**
 * Shares the uploads that the service receives at once among the accounts. Half of them are for accounts that have none in progress, and an
 * upload that is slower than 8 KB/s gives way to such an account, so that a few accounts with slow lines do not keep the others out.
 */
export class UploadSlots {
  readonly #most: number;
  readonly #now: () => number;
  readonly #open = new Set<OpenUpload>();

  /** @param now milliseconds of a clock that does not jump. */
  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  /** Ends a slow upload if that makes room. @returns why the account has to wait; undefined if it may upload. */
  refusal(accountId: string): string | undefined {
    const most = this.#most;
    const hasOne = [...this.#open].some((upload) => upload.accountId === accountId);
    if (this.#open.size < most) {
      if (!hasOne || this.#open.size < most / 2) return undefined;
      return `Half of the ${most} uploads that the service receives at once (all_uploads) are for accounts that have none in progress.`;
    }
    const slowest = hasOne ? undefined : this.#slowest();
    if (slowest === undefined) {
      return `The service receives ${most} uploads at once (all_uploads), and that many are in progress.`;
    }
    this.#open.delete(slowest);
    slowest.incoming.destroy();
    return undefined;
  }

  /** Counts an upload. @returns a function that ends the counting. */
  add(accountId: string, incoming: ReceivedRequest): () => void {
    const upload = { accountId, incoming, startedAt: this.#now(), bytesBefore: incoming.socket.bytesRead };
    this.#open.add(upload);
    return () => void this.#open.delete(upload);
  }

  /** The slowest upload below the least rate, if there is one. What was received completely is only being checked. */
  #slowest(): OpenUpload | undefined {
    let slowest: { readonly upload: OpenUpload; readonly rate: number } | undefined;
    for (const upload of this.#open) {
      const ageMs = this.#now() - upload.startedAt;
      if (upload.incoming.complete || ageMs < GRACE_MS) continue;
      const rate = (upload.incoming.socket.bytesRead - upload.bytesBefore) / ageMs;
      if (rate < Math.min(MIN_BYTES_PER_MS, slowest?.rate ?? Infinity)) slowest = { upload, rate };
    }
    return slowest?.upload;
  }
}
