import type { HostedPart } from '../../../agents/run/runHost.ts';
import { changesBetween, type StateChange } from '../protocol/stateChange.ts';
import { isSpecial, type StateObject, type StateView } from '../protocol/stateView.ts';

// A batch can run a million items at once, and readers of the events copy the state with each change.
const MAX_PARTS = 32;

/** The states of items and branches in progress, which are shown beside the shared state, each under its path. */
export class PartStates {
  readonly #parts = new Map<string, StateView>();

  /** The changes of a step of a part, and the removal of parts that ended before. */
  changes(shared: StateView, { path, previous }: HostedPart, state: StateView): readonly StateChange[] {
    const changes: StateChange[] = [];
    for (const known of this.#parts.keys()) {
      // Ended items, and everything that ran inside them or inside this one.
      if (known === previous || isBelow(known, previous) || isBelow(known, path)) changes.push(this.#remove(known));
    }
    const before = this.#parts.get(path);
    if (before === undefined && this.#parts.size >= MAX_PARTS) return changes;
    const own = ownPart(shared, state);
    this.#parts.set(path, own);
    if (before === undefined) changes.push({ op: 'set', path: [path], value: own });
    else for (const change of changesBetween(before, own)) changes.push({ ...change, path: [path, ...change.path] });
    return changes;
  }

  /** The removal of all parts: they have ended. */
  clear(): readonly StateChange[] {
    return [...this.#parts.keys()].map((known) => this.#remove(known));
  }

  #remove(path: string): StateChange {
    this.#parts.delete(path);
    return { op: 'remove', path: [path] };
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
