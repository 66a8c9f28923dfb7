import type { ErrorData } from './errorData.ts';

/** One end of a message channel: a `Program`, a `Worker`, a `MessagePort` or `parentPort`. */
export interface MessageEndpoint {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/** Named groups of functions, such as `{ ledger, archiver }`. */
export type Service = Readonly<Record<string, object>>;

/** The same groups, as seen by the other thread: every function returns a promise. */
export type RemoteService<S extends Service> = {
  readonly [G in keyof S]: {
    readonly [M in keyof S[G]]: S[G][M] extends (...args: infer A) => infer R
      ? (...args: A) => Promise<Awaited<R>>
      : never;
  };
};

/** The position and type of an argument that cannot be cloned and is represented by messages. */
export interface Stub {
  readonly argument: number;
  readonly key?: string;
  readonly type: 'callback' | 'signal';
  readonly reason?: ErrorData;
}

export type Message =
  | { type: 'call'; id: number; group: string; method: string; args: unknown[]; stubs: readonly Stub[] }
  | { type: 'callback'; id: number; stub: number; args: unknown[] }
  | { type: 'abort'; id: number; stub: number; reason: ErrorData }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'failure'; id: number; error: ErrorData };

export function asMessage(raw: unknown): Message {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `serveCalls` and `RemoteCaller` send
  return raw as Message;
}
