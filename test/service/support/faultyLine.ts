import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertNever } from '../../../src/core/errors.ts';
import { resetSocket } from './resetSocket.ts';

/**
 * What a network does to a connection:
 * - `delay`: nothing passes for a moment, then everything continues;
 * - `stall`: nothing passes any more, and neither end is notified;
 * - `late`: the same, until the receiver has given up; what was under way arrives then;
 * - `reset`: both ends get an RST;
 * - `truncate`: both ends get a FIN, as if the other one were done;
 * - `duplicate`: the last bytes arrive twice;
 * - `flip`: one bit of a byte is another one.
 */
export const FAULTS = ['delay', 'stall', 'late', 'reset', 'truncate', 'duplicate', 'flip'] as const;
export type FaultType = (typeof FAULTS)[number];

export interface Fault {
  readonly type: FaultType;
  /** Whose bytes are counted: the client's (`request`) or the service's (`response`). */
  readonly side: 'request' | 'response';
  /** Bytes on that side of one connection that pass before the fault, or `all` of the request that is counted. */
  readonly after: number | 'all';
  /** Counts only from the first POST of a connection on; for connections that are not encrypted. */
  readonly isPost?: boolean;
  /** Called when it strikes, before an end notices; what is late arrives no sooner than it is done. */
  readonly onStrike?: () => Promise<void>;
}

/** Bytes that passed on a connection. */
export interface Passed {
  request: number;
  response: number;
}

interface Faults {
  /** The one that strikes next; it is the next one until it was taken. */
  next(): Fault | undefined;
  take(): void;
}

const DELAY_MS = 300;
const DUPLICATED_BYTES = 64;

/** One connection through a proxy, until a fault ends it. */
export class FaultyLine {
  readonly #client: Socket;
  readonly #service: Socket;
  readonly #passed: Passed;
  readonly #faults: Faults;
  #state: 'open' | 'late' | 'dead' = 'open';
  /** Where the first POST begins and ends among the bytes of requests, and its response among those of responses. */
  #post = { start: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY, response: Number.POSITIVE_INFINITY };
  readonly #recent: Record<Fault['side'], Buffer> = { request: Buffer.alloc(0), response: Buffer.alloc(0) };
  /** What the client sends on a line whose bytes are late. */
  readonly #held: Buffer[] = [];
  #isReleased: Promise<void> | undefined;

  constructor(ends: { client: Socket; service: Socket; passed: Passed }, faults: Faults) {
    this.#client = ends.client;
    this.#service = ends.service;
    this.#passed = ends.passed;
    this.#faults = faults;
  }

  open(): void {
    void this.#pump('request', this.#client, this.#service);
    void this.#pump('response', this.#service, this.#client);
  }

  async #pump(side: Fault['side'], from: Socket, to: Socket): Promise<void> {
    let hasFailed = false;
    try {
      for await (const chunk of from.iterator({ destroyOnReturn: false })) {
        if (side === 'request') this.#notePost(chunk as Buffer);
        await this.#pass(side, chunk as Buffer, to);
        if (this.#state === 'dead') return; // neither end is read any more, nor notified
      }
    } catch {
      hasFailed = true;
    }
    if (this.#state === 'late') {
      if (side === 'response') return;
      await this.#isReleased;
      this.#service.write(Buffer.concat(this.#held)); // and no FIN, at which a service drops what it has not read
    } else if (hasFailed) this.#end();
    else if (this.#state === 'open') to.end();
  }

  async #pass(side: Fault['side'], chunk: Buffer, to: Socket): Promise<void> {
    let rest = chunk;
    while (this.#state === 'open') {
      const fault = this.#faults.next();
      const before = fault?.side === side ? this.#limit(fault) - this.#passed[side] : Number.POSITIVE_INFINITY;
      // After the last byte of a request no other one comes that a fault could wait for.
      const isHere = fault !== undefined && (side === 'request' ? before <= rest.length : before < rest.length);
      if (!isHere) return this.#write(side, rest, to);
      this.#faults.take();
      await this.#write(side, rest.subarray(0, Math.max(0, before)), to);
      rest = rest.subarray(Math.max(0, before));
      rest = await this.#strike(fault, rest, to);
      if (rest.length === 0) return;
    }
    if (this.#state === 'late' && side === 'request') this.#held.push(rest);
  }

  /** What of the bytes behind the fault is there after it. */
  async #strike({ type, side, onStrike }: Fault, rest: Buffer, to: Socket): Promise<Buffer> {
    switch (type) {
      case 'delay':
        await sleep(DELAY_MS);
        return rest;
      case 'duplicate':
        await this.#write(side, this.#recent[side], to);
        return rest;
      case 'flip': {
        const copy = Buffer.from(rest);
        copy[0] = (copy[0] ?? 0) ^ 1;
        return copy;
      }
      case 'late':
        this.#state = 'late';
        this.#isReleased = onStrike?.();
        if (side === 'request') this.#held.push(rest);
        return rest.subarray(rest.length);
      case 'stall':
      case 'reset':
      case 'truncate':
        this.#state = 'dead'; // nothing passes any more
        await onStrike?.();
        if (type === 'truncate') this.#end();
        if (type === 'reset') for (const socket of [this.#client, this.#service]) resetSocket(socket);
        return rest;
      default:
        return assertNever(type);
    }
  }

  #end(): void {
    this.#state = 'dead';
    for (const socket of [this.#client, this.#service]) socket.destroySoon();
  }

  #limit({ side, after, isPost = false }: Fault): number {
    const { start, end, response } = this.#post;
    if (after === 'all') return end;
    if (!isPost) return after;
    return (side === 'request' ? start : response) + after;
  }

  #notePost(bytes: Buffer): void {
    const text = bytes.toString('latin1');
    if (!text.startsWith('POST ') || this.#post.start < Number.POSITIVE_INFINITY) return;
    const [, length = '0'] = /^content-length: *(\d+)/im.exec(text) ?? [];
    const { request: start, response } = this.#passed;
    this.#post = { start, end: start + text.indexOf('\r\n\r\n') + 4 + Number(length), response };
  }

  /** Returns when the system has taken the bytes: what was sent arrives before the line breaks. */
  async #write(side: Fault['side'], bytes: Buffer, to: Socket): Promise<void> {
    if (bytes.length === 0) return;
    this.#passed[side] += bytes.length;
    const last = Buffer.concat([this.#recent[side], bytes.subarray(-DUPLICATED_BYTES)]);
    this.#recent[side] = last.subarray(-DUPLICATED_BYTES);
    await new Promise<void>((resolve) => to.write(bytes, () => resolve()));
  }
}
