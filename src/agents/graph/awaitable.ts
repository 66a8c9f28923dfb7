export type Awaitable<T> = T | Promise<T>;

/** Whether a hook returned a promise. Plain values are never awaited: an `await` costs more than a whole visit of a sync node. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
