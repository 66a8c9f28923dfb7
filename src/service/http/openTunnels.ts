import type { Readable, Writable } from 'node:stream';

/** Who is connected to a job. */
export interface OpenTunnel {
  readonly jobId: string;
  readonly account: string;
  /** Null for the service's own key. */
  readonly key: string | null;
  /** As it names itself. */
  readonly client: string | null;
  readonly since: number;
  /** Bytes from the client to the job, and back. */
  sent: number;
  received: number;
}

/** The connections into running jobs that are open now. */
export class OpenTunnels {
  readonly #open = new Map<OpenTunnel, (reason: string) => void>();

  /** @param end ends the connection for a reason that its client shows. */
  add(tunnel: OpenTunnel, end: (reason: string) => void): void {
    this.#open.set(tunnel, end);
  }

  remove(tunnel: OpenTunnel): void {
    this.#open.delete(tunnel);
  }

  of(jobId: string): readonly OpenTunnel[] {
    return [...this.#open.keys()].filter((tunnel) => tunnel.jobId === jobId);
  }

  endAll(reason: string): void {
    for (const end of this.#open.values()) end(reason);
  }
}

/**
 * Passes on what arrives, as fast as the other side takes it, and not more than so many bytes a second. The other side is ended with it
 * unless `keepsOpen`.
 */
export function passOn(
  from: Readable,
  to: Writable,
  options: { readonly count: (bytes: number) => void; readonly bytesPerSecond: number; readonly keepsOpen?: boolean },
): void {
  const { count, bytesPerSecond, keepsOpen = false } = options;
  let freeAt = 0;
  let isHeld = false;
  const proceed = (): void => {
    if (!isHeld && !to.writableNeedDrain) from.resume();
  };
  from.on('data', (chunk: Buffer) => {
    count(chunk.length);
    if (to.writableCorked === 0) {
      // What arrived together leaves together.
      to.cork();
      process.nextTick(() => to.uncork());
    }
    if (!to.write(chunk)) from.pause();
    if (bytesPerSecond === Number.POSITIVE_INFINITY) return;
    const now = performance.now();
    freeAt = Math.max(now, freeAt) + (1_000 * chunk.length) / bytesPerSecond;
    if (isHeld) return;
    isHeld = true;
    from.pause();
    setTimeout(() => {
      isHeld = false;
      proceed();
    }, freeAt - now).unref();
  });
  to.on('drain', proceed);
  if (!keepsOpen) from.once('end', () => to.end());
}
