import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type DebugMessage, readMessages, writeMessage } from '../../../../src/jobs/debug/debugMessages.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A debug client on a stream: sends requests, and keeps what arrives. */
export class DebugClient {
  readonly #stream: Duplex;
  readonly #waiting = new Set<() => void>();
  #seq = 0;
  /** All messages, in order. */
  readonly received: DebugMessage[] = [];
  readonly ended: Promise<void>;

  constructor(stream: Duplex) {
    this.#stream = stream;
    this.ended = this.#read();
  }

  /** Sends a request. Resolves to the body of its response. @throws Error with the message of a refusal. */
  async request(command: string, args?: object): Promise<Fields> {
    const response = await this.response(command, args);
    if (response['success'] !== true) throw new Error(String(response['message']));
    return fieldsOf(response['body']);
  }

  /** The same for the response itself. */
  async response(command: string, args: object = {}): Promise<DebugMessage> {
    this.#seq += 1;
    const seq = this.#seq;
    this.#stream.write(writeMessage({ seq, type: 'request', command, arguments: args }));
    return this.until((message) => message['type'] === 'response' && message['request_seq'] === seq);
  }

  /** The body of the next event of this name, each of which is returned once. */
  async event(name: string): Promise<Fields> {
    const found = await this.until((message) => message['type'] === 'event' && message['event'] === name);
    this.received.splice(this.received.indexOf(found), 1);
    return fieldsOf(found['body']);
  }

  async until(matches: (message: DebugMessage) => boolean): Promise<DebugMessage> {
    for (;;) {
      const found = this.received.find(matches);
      if (found !== undefined) return found;
      const hasEnded = await Promise.race([
        new Promise<void>((resolve) => void this.#waiting.add(resolve)),
        this.ended.then(() => 'ended' as const),
      ]);
      if (hasEnded === 'ended' && !this.received.some(matches)) throw new Error('the connection has ended');
    }
  }

  close(): void {
    this.#stream.destroy();
  }

  async #read(): Promise<void> {
    try {
      for await (const message of readMessages(this.#stream)) {
        this.received.push(message);
        for (const wake of this.#waiting) wake();
        this.#waiting.clear();
      }
    } catch {
      // It was closed.
    }
  }
}

/** Connects to a port of this machine. */
export async function connectTo(port: number): Promise<Duplex> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** The fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

/** The objects of a list. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
