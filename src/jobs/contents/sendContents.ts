import { classifyFailure, httpStatus, isFinal } from '../../core/network/classifyFailure.ts';
import { backoffMs, retry } from '../../core/retry.ts';
import type { RemoteClient } from '../../remote/client.ts';
import { MAX_ASKED_NAMES, NAME_BYTES, namesIn } from '../../remote/protocol/contents.ts';
import type { ArchiveContents } from './archiveContents.ts';
import { PieceBatch } from '../../remote/transfers/pieceBatch.ts';

const BACKOFF = { firstMs: 250, factor: 4, retries: 3 };

/** The part of a service that takes contents. */
export type ContentService = Pick<RemoteClient, 'postContents'>;

export interface SendContentsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the pieces that were sent or need not be, all pieces, and the bytes of all requests. */
  readonly onProgress: (done: number, total: number, sentBytes: number) => void;
}

/**
 * Sends the pieces of an archive that the service lacks.
 *
 * @throws the service's error, the system's error if the connection is lost three times in a row, the signal's reason on abort.
 */
export async function sendContents(
  service: ContentService,
  contents: ArchiveContents,
  { signal, onProgress }: SendContentsOptions,
): Promise<void> {
  const sender = new Sender(service, signal);
  const { lists } = contents;
  const lackingLists = await sender.ask(
    'lacking-lists',
    lists.map(({ name }) => name),
  );
  const open = new Map(lists.map((list) => [list.name.toString('hex'), list]));
  for (const name of open.keys()) if (!lackingLists.has(name)) open.delete(name);
  const missing = await sender.ask(
    'lacking',
    [...open.values()].flatMap(({ names }) => namesIn(names) ?? []),
  );
  const total = lists.reduce((sum, { names }) => sum + names.length / NAME_BYTES, 0);
  onProgress(total - missing.size, total, sender.sentBytes);

  const batch = new PieceBatch();
  let sending: Promise<void> = Promise.resolve();
  const send = async (body: Buffer, done: number): Promise<void> => {
    await sender.post('pieces', body);
    onProgress(done, total, sender.sentBytes);
  };
  /** Returns when the previous request has ended, so that reading slows down with the connection. */
  const flush = async (): Promise<void> => {
    if (batch.isEmpty) return;
    const body = await batch.take();
    const done = total - missing.size;
    await sending;
    sending = send(body, done);
    sending.catch(() => {}); // reported where it is awaited
  };
  for await (const { name, bytes, isIncompressible } of contents.read(new Set(missing), signal)) {
    if (!missing.delete(name.toString('hex'))) continue;
    batch.add(name, bytes, isIncompressible);
    if (batch.isFull) await flush();
    if (missing.size === 0) break;
  }
  for (const { name, names } of open.values()) {
    batch.add(name, Buffer.from(names));
    if (batch.isFull) await flush();
  }
  await flush();
  await sending;
}

/** Sends requests about contents, and counts the bytes of their bodies. */
class Sender {
  readonly #service: ContentService;
  readonly #signal: AbortSignal | undefined;
  sentBytes = 0;

  constructor(service: ContentService, signal: AbortSignal | undefined) {
    this.#service = service;
    this.#signal = signal;
  }

  async post(path: 'lacking' | 'lacking-lists' | 'pieces', body: Buffer): Promise<Buffer> {
    const signal = this.#signal;
    const send = (): Promise<Buffer> => this.#service.postContents(path, body, { ...(signal && { signal }) });
    // Sending pieces twice is harmless, so after a lost connection the request is simply repeated.
    const answer = await retry(send, { signal, delayMs: repetitionDelayMs });
    this.sentBytes += body.length;
    return answer;
  }

  /** The names, in hexadecimal, of what the service lacks. */
  async ask(path: 'lacking' | 'lacking-lists', names: readonly Buffer[]): Promise<Set<string>> {
    const unique = [...new Map(names.map((name) => [name.toString('hex'), name]))];
    const lacking = new Set<string>();
    for (let start = 0; start < unique.length; start += MAX_ASKED_NAMES) {
      const batch = unique.slice(start, start + MAX_ASKED_NAMES);
      const bits = await this.post(path, Buffer.concat(batch.map(([, name]) => name)));
      for (const [index, [hex]] of batch.entries()) {
        if (((bits[index >> 3] ?? 0xff) & (1 << (index & 7))) !== 0) lacking.add(hex);
      }
    }
    return lacking;
  }
}

/** Milliseconds before a request about contents is repeated, for `retry`: only a lost connection is worth it. */
export function repetitionDelayMs(failures: number, error: unknown): number | undefined {
  const isLost = httpStatus(error) === undefined && !isFinal(classifyFailure(error));
  return isLost ? backoffMs(failures, BACKOFF) : undefined;
}
