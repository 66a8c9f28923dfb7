import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Hears from scripts that they run. A job reports to it over a connection of its own, so what it knows has passed neither through
 * the service nor through any file that the service, its store or a sandbox could lose or keep from the job.
 */
export class Witness implements AsyncDisposable {
  readonly #server: Server;
  readonly #heard = new Map<string, number>();

  private constructor() {
    this.#server = createServer((socket) => {
      text(socket).then(
        (words) => this.#hear(words.trim()),
        () => {}, // the script was killed while it spoke
      );
    });
  }

  static async start(): Promise<Witness> {
    const witness = new Witness();
    witness.#server.listen(0, '127.0.0.1');
    await once(witness.#server, 'listening');
    return witness;
  }

  /** A line of bash that reports that `job` has reached `point`. */
  report(job: string, point: 'begin' | 'end'): string {
    const { port } = this.#server.address() as AddressInfo;
    return `exec 9<>/dev/tcp/127.0.0.1/${port} && echo '${point} ${job}' >&9; exec 9>&-`;
  }

  /** How often a job has come to a point. */
  count(job: string, point: 'begin' | 'end'): number {
    return this.#heard.get(`${point} ${job}`) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #hear(words: string): void {
    this.#heard.set(words, (this.#heard.get(words) ?? 0) + 1);
  }
}
