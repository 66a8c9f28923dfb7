import { Transform } from 'node:stream';

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

/** Passes bytes on, counts them, and holds them up so that they are not more than so many per second. */
export function meter(count: (bytes: number) => void, bytesPerSecond: number): Transform {
  let freeAt = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count(chunk.length);
      if (bytesPerSecond === Number.POSITIVE_INFINITY) {
        done(null, chunk);
        return;
      }
      const now = performance.now();
      freeAt = Math.max(now, freeAt) + (1_000 * chunk.length) / bytesPerSecond;
      setTimeout(() => done(null, chunk), freeAt - now).unref();
    },
  });
}
