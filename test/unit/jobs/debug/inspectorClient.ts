import type { Duplex } from 'node:stream';
import { readMessageLines } from '../../../../src/remote/tunnel/messageLines.ts';
import { fieldsOf } from './debugClient.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A client of the inspector protocol on a stream of lines: sends requests, and keeps what arrives. */
export class InspectorTestClient {
  readonly #stream: Duplex;
  readonly #waiting = new Set<() => void>();
  readonly #received: Fields[] = [];
  readonly #ended: Promise<void>;
  #id = 0;

  constructor(stream: Duplex) {
    this.#stream = stream;
    this.#ended = this.#read();
  }

  /** @throws Error with the message of a refusal. */
  async request(method: string, params: object = {}): Promise<Fields> {
    this.#id += 1;
    const id = this.#id;
    this.#stream.write(`${JSON.stringify({ id, method, params })}\n`);
    const answer = await this.#until((message) => message['id'] === id);
    if (answer['error'] !== undefined) throw new Error(String(fieldsOf(answer['error'])['message']));
    return fieldsOf(answer['result']);
  }

  /** The next event of this name that fits, each of which is returned once. */
  async event(method: string, fits: (params: Fields) => boolean = () => true): Promise<Fields> {
    const found = await this.#until((message) => message['method'] === method && fits(fieldsOf(message['params'])));
    this.#received.splice(this.#received.indexOf(found), 1);
    return fieldsOf(found['params']);
  }

  close(): void {
    this.#stream.destroy();
  }

  async #until(fits: (message: Fields) => boolean): Promise<Fields> {
    for (;;) {
      const found = this.#received.find(fits);
      if (found !== undefined) return found;
      const next = new Promise<void>((resolve) => void this.#waiting.add(resolve));
      const hasEnded = await Promise.race([next, this.#ended.then(() => true)]);
      if (hasEnded === true && !this.#received.some(fits)) throw new Error('the connection has ended');
    }
  }

  async #read(): Promise<void> {
    try {
      for await (const line of readMessageLines(this.#stream)) {
        this.#received.push(fieldsOf(JSON.parse(line)));
        for (const wake of this.#waiting) wake();
        this.#waiting.clear();
      }
    } catch {
      // It was closed.
    }
  }
}
