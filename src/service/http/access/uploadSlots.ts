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
 * Shares the uploads that the service receives at once among the accounts. An account may have all of them while nobody else needs one. When
 * all are in progress, an account that has none gets one all the same until half of them have gone to such accounts: in place of an upload of
 * the account that has the most, or of one that is slower than 8 KB/s.
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

  /** Ends an upload of another account if this one has none and may take its place. @returns why the account has to wait; undefined if it may upload. */
  refusal(accountId: string): string | undefined {
    const most = this.#most;
    if (this.#open.size < most) return undefined;
    const hasOne = [...this.#open].some((upload) => upload.accountId === accountId);
    const ended = hasOne ? undefined : (this.#slowest() ?? this.#aboveShare());
    if (ended === undefined) {
      return `The service receives ${most} uploads at once (all_uploads), and that many are in progress.`;
    }
    this.#open.delete(ended);
    ended.incoming.destroy();
    return undefined;
  }

  /** Counts an upload. @returns a function that ends the counting. */
  add(accountId: string, incoming: ReceivedRequest): () => void {
    const upload = { accountId, incoming, startedAt: this.#now(), bytesBefore: incoming.socket.bytesRead };
    this.#open.add(upload);
    return () => void this.#open.delete(upload);
  }

  /**
   * The upload that has received least of the account that has the most, if those are more than its share of one half: that of all accounts
   * which have several, because the other half is for those that have none yet.
   */
  #aboveShare(): OpenUpload | undefined {
    const several = [...Map.groupBy(this.#open, ({ accountId }) => accountId).values()].filter(
      ({ length }) => length > 1,
    );
    const [most] = several.toSorted((one, other) => other.length - one.length);
    const share = Math.max(1, Math.floor(this.#most / 2 / several.length));
    if (most === undefined || most.length <= share) return undefined;
    const received = ({ incoming, bytesBefore }: OpenUpload): number => incoming.socket.bytesRead - bytesBefore;
    const [least] = most
      .filter(({ incoming }) => !incoming.complete)
      .toSorted((one, other) => received(one) - received(other));
    return least;
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
