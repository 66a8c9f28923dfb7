import { decodeError, encodeError } from './errorData.ts';
import type { Disposable } from '../processes/lifetime.ts';
import { type Message, type MessageEndpoint, asMessage, type Service, type Stub } from './rpcMessages.ts';

/** A service whose groups may be loaded by the first call to them. */
export type LoadableService<S extends Service> = { readonly [G in keyof S]: S[G] | (() => Promise<S[G]>) };

/**
 * Runs the calls that arrive on `endpoint` with the functions of `service`, until disposed.
 *
 * Arguments and results are copied by `postMessage`. A function or an `AbortSignal` may be an argument or a member of an options object:
 * the function is called back without a result, and the signal aborts here when it aborts there. A group that is given as a function is
 * loaded by the first call to it.
 */
export function serveCalls<S extends Service>(endpoint: MessageEndpoint, service: LoadableService<S>): Disposable {
  const signals = new Map<string, AbortController>();
  const loaded = new Map<string, Promise<object>>();

  const groupOf = (name: string): object | undefined | Promise<object> => {
    const group = Object.hasOwn(service, name) ? service[name] : undefined;
    if (typeof group !== 'function') return group;
    const loading = loaded.get(name) ?? group();
    loaded.set(name, loading);
    return loading;
  };

  const answer = async (call: Extract<Message, { type: 'call' }>): Promise<void> => {
    const restored = call.stubs.map((stub, index) => {
      if (stub.type === 'callback') {
        return (...args: unknown[]) => endpoint.postMessage({ type: 'callback', id: call.id, stub: index, args });
      }
      const controller = new AbortController();
      if (stub.reason) controller.abort(decodeError(stub.reason));
      signals.set(`${call.id}/${index}`, controller);
      return controller.signal;
    });
    try {
      const group = await groupOf(call.group);
      const method: unknown = group === undefined ? undefined : Reflect.get(group, call.method);
      if (typeof method !== 'function') throw new Error(`${call.group}.${call.method} does not exist.`);
      const value: unknown = await Reflect.apply(method, group, withStubs(call.args, call.stubs, restored));
      endpoint.postMessage({ type: 'result', id: call.id, value });
    } catch (error) {
      endpoint.postMessage({ type: 'failure', id: call.id, error: encodeError(error) });
    } finally {
      for (const index of restored.keys()) signals.delete(`${call.id}/${index}`);
    }
  };

  const listener = (raw: unknown): void => {
    const message = asMessage(raw);
    if (message.type === 'call') void answer(message);
    if (message.type === 'abort') signals.get(`${message.id}/${message.stub}`)?.abort(decodeError(message.reason));
  };
  endpoint.on('message', listener);
  return { dispose: () => void endpoint.off('message', listener) };
}

function withStubs(args: unknown[], stubs: readonly Stub[], restored: readonly unknown[]): unknown[] {
  for (const [index, { argument, key }] of stubs.entries()) {
    if (key === undefined) args[argument] = restored[index];
    else Reflect.set(Object(args[argument]), key, restored[index]);
  }
  return args;
}
