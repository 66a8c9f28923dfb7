import type { Server, ServerResponse } from 'node:http';

/** Knows for how long nobody has asked a server anything. A stream that is open is a request that goes on. */
export class Activity {
  #open = 0;
  #lastAt = performance.now();

  constructor(server: Server) {
    server.on('request', (_request: unknown, response: ServerResponse) => {
      this.#open += 1;
      response.once('close', () => {
        this.#open -= 1;
        this.touch();
      });
    });
  }

  touch(): void {
    this.#lastAt = performance.now();
  }

  idleMs(): number {
    return this.#open > 0 ? 0 : performance.now() - this.#lastAt;
  }
}
