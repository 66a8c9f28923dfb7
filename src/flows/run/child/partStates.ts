import type { HostedPart } from '../../../agents/run/runHost.ts';
import { changesBetween } from '../protocol/stateChange.ts';
import { isSpecial, type StateObject, type StateView } from '../protocol/stateView.ts';

// A batch can run a million items at once.
const MAX_PARTS = 100;

/** Shows the states of items and branches in progress beside the shared state, each under its path. */
export class PartStates {
  /** By path. */
  readonly #parts = new Map<string, StateView>();

  /** The view of the shared state with the states of all parts in progress, of which one has changed. */
  show(shared: StateView, { path, previous }: HostedPart, state: StateView): StateView {
    for (const known of this.#parts.keys()) {
      // An item that has ended, and what ran inside of it or inside of this one.
      if (known === previous || isBelow(known, previous) || isBelow(known, path)) this.#parts.delete(known);
    }
    if (this.#parts.size < MAX_PARTS || this.#parts.has(path)) this.#parts.set(path, ownPart(shared, state));
    return isObject(shared) ? { ...shared, ...Object.fromEntries(this.#parts) } : shared;
  }

  /** All parts have ended. */
  clear(): void {
    this.#parts.clear();
  }
}

function isBelow(path: string, outer: string | undefined): boolean {
  return outer !== undefined && path.startsWith(`${outer}/`);
}

/** The keys that a part does not have from the shared state. */
function ownPart(shared: StateView, state: StateView): StateView {
  if (!isObject(shared) || !isObject(state)) return state;
  const isOwn = ([key, value]: [string, StateView]): boolean =>
    !Object.hasOwn(shared, key) || changesBetween(shared[key] ?? null, value).length > 0;
  return Object.fromEntries(Object.entries(state).filter(isOwn));
}

function isObject(view: StateView): view is StateObject {
  return typeof view === 'object' && view !== null && !Array.isArray(view) && !isSpecial(view);
}
