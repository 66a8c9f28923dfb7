import { decodeError, encodeError } from './errorData.ts';
import type { Disposable } from '../processes/lifetime.ts';
import { type MessageEndpoint, asMessage, type RemoteService, type Service, type Stub } from './rpcMessages.ts';

interface PendingCall {
  readonly isSubscription: boolean;
  readonly callbacks: ReadonlyMap<number, (...args: unknown[]) => void>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  release(): void;
}

export interface RemoteCallerOptions {
  /** Methods whose calls do not count as use of the channel, such as those of a poll. */
  readonly passive?: readonly string[];
  /** Methods whose calls report events until the channel is closed. They count neither as use of the channel nor as work in progress. */
  readonly subscriptions?: readonly string[];
}

/**
 * Calls the functions that `serveCalls` offers at the other end of a channel. The channel is opened by the first call, and again by the
 * first call after it was lost or closed.
 */
export class RemoteCaller<S extends Service> implements Disposable {
  readonly service: RemoteService<S>;
  readonly #open: (onLost: (error: Error) => void) => MessageEndpoint;
  readonly #passive: readonly string[];
  readonly #subscriptions: readonly string[];
  readonly #pending = new Map<number, PendingCall>();
  #usedAt = 0;
  #endpoint: MessageEndpoint | undefined;
  #lastId = 0;
  #isDisposed = false;

  /** `open` opens the channel and reports its loss through `onLost`, whose error rejects all pending calls. */
  constructor(open: (onLost: (error: Error) => void) => MessageEndpoint, options: RemoteCallerOptions = {}) {
    this.#open = open;
    this.#passive = options.passive ?? [];
    this.#subscriptions = options.subscriptions ?? [];
    const group = (name: string): object =>
      new Proxy(
        {},
        {
          get:
            (_, method) =>
            (...args: unknown[]) =>
              this.#call(name, String(method), args),
        },
      );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has every property
    this.service = new Proxy({} as RemoteService<S>, { get: (_, name) => group(String(name)) });
  }

  /** Whether calls are waiting for their results. */
  get isBusy(): boolean {
    return [...this.#pending.values()].some(({ isSubscription }) => !isSubscription);
  }

  /** When the channel was opened or last used, as `performance.now()`. */
  get usedAt(): number {
    return this.#usedAt;
  }

  /** Closes the channel, which rejects the calls that wait. The next call opens it again. */
  close(): void {
    this.#lose(new DOMException('The worker was closed.', 'AbortError'));
  }

  dispose(): void {
    this.#isDisposed = true;
    this.close();
  }

  #connect(): MessageEndpoint {
    if (this.#isDisposed) throw new DOMException('The worker was closed.', 'AbortError');
    if (this.#endpoint) return this.#endpoint;
    const endpoint = this.#open((error) => {
      if (this.#endpoint === endpoint) this.#lose(error);
    });
    endpoint.on('message', this.#receive);
    this.#endpoint = endpoint;
    this.#usedAt = performance.now();
    return endpoint;
  }

  #lose(error: Error): void {
    this.#endpoint?.off('message', this.#receive);
    this.#endpoint = undefined;
    for (const id of this.#pending.keys()) this.#settle(id)?.reject(error);
  }

  #call(group: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const id = (this.#lastId += 1);
    const stubs: Stub[] = [];
    const originals: unknown[] = [];
    const plain = args.map((argument, index) => withoutStubs(argument, index, stubs, originals));
    return new Promise((resolve, reject) => {
      const endpoint = this.#connect();
      const listeners = new AbortController();
      const callbacks = new Map<number, (...args: unknown[]) => void>();
      for (const [index, original] of originals.entries()) {
        if (typeof original === 'function') {
          callbacks.set(index, (...values) => void Reflect.apply(original, undefined, values));
        }
        if (!(original instanceof AbortSignal)) continue;
        const forward = (): void =>
          endpoint.postMessage({ type: 'abort', id, stub: index, reason: encodeError(original.reason) });
        original.addEventListener('abort', forward, { once: true, signal: listeners.signal });
      }
      const isSubscription = this.#subscriptions.includes(method);
      if (!isSubscription && !this.#passive.includes(method)) this.#usedAt = performance.now();
      this.#pending.set(id, { isSubscription, callbacks, resolve, reject, release: () => listeners.abort() });
      try {
        endpoint.postMessage({ type: 'call', id, group, method, args: plain, stubs });
      } catch (error) {
        // An argument cannot be cloned, so the call was not sent.
        this.#settle(id)?.reject(error);
      }
    });
  }

  readonly #receive = (raw: unknown): void => {
    const message = asMessage(raw);
    if (message.type === 'callback') this.#pending.get(message.id)?.callbacks.get(message.stub)?.(...message.args);
    if (message.type === 'result') this.#settle(message.id)?.resolve(message.value);
    if (message.type === 'failure') this.#settle(message.id)?.reject(decodeError(message.error));
  };

  #settle(id: number): PendingCall | undefined {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    call?.release();
    return call;
  }
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function stubOf(value: unknown, argument: number, key?: string): Stub | undefined {
  const place = key === undefined ? { argument } : { argument, key };
  if (typeof value === 'function') return { ...place, type: 'callback' };
  if (!(value instanceof AbortSignal)) return undefined;
  return value.aborted ? { ...place, type: 'signal', reason: encodeError(value.reason) } : { ...place, type: 'signal' };
}

function withoutStubs(value: unknown, argument: number, stubs: Stub[], originals: unknown[]): unknown {
  const replace = (member: unknown, key?: string): unknown => {
    const stub = stubOf(member, argument, key);
    if (!stub) return member;
    stubs.push(stub);
    originals.push(member);
    return undefined;
  };
  if (!isPlainObject(value)) return replace(value);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replace(member, key)]));
}
