import type { StateObject, StateView } from './stateView.ts';

/** One difference between two views of the shared state. `path` leads there; an empty one means the whole state. */
export type StateChange =
  | { readonly op: 'set'; readonly path: StatePath; readonly value: StateView }
  | { readonly op: 'remove'; readonly path: StatePath };

type StatePath = readonly (string | number)[];

/** The changes from one view to the other, in order: `applyChanges` with them returns exactly `after`. */
export function stateChanges(before: StateView, after: StateView): readonly StateChange[] {
  const changes: StateChange[] = [];
  collect(before, after, [], changes);
  return changes;
}

function collect(before: StateView, after: StateView, path: StatePath, changes: StateChange[]): void {
  if (before === after) return;
  if (isList(before) && isList(after)) {
    const common = Math.min(before.length, after.length);
    for (let index = 0; index < common; index += 1) {
      collect(before[index] ?? null, after[index] ?? null, [...path, index], changes);
    }
    for (let index = before.length - 1; index >= common; index -= 1) {
      changes.push({ op: 'remove', path: [...path, index] });
    }
    for (let index = common; index < after.length; index += 1) {
      changes.push({ op: 'set', path: [...path, index], value: after[index] ?? null });
    }
    return;
  }
  if (isObject(before) && isObject(after) && before['$'] === after['$']) {
    for (const key of Object.keys(before)) {
      if (!Object.hasOwn(after, key)) changes.push({ op: 'remove', path: [...path, key] });
    }
    for (const [key, value] of Object.entries(after)) {
      const old = Object.hasOwn(before, key) ? before[key] : undefined;
      if (old === undefined) changes.push({ op: 'set', path: [...path, key], value });
      else collect(old, value, [...path, key], changes);
    }
    return;
  }
  changes.push({ op: 'set', path, value: after });
}

/** The view after the changes; `view` itself stays as it is. */
export function applyChanges(view: StateView, changes: readonly StateChange[]): StateView {
  let result = view;
  for (const change of changes) result = apply(result, change, 0);
  return result;
}

function apply(view: StateView, change: StateChange, depth: number): StateView {
  const key = change.path[depth];
  if (key === undefined) return change.op === 'set' ? change.value : null;
  const isLast = depth === change.path.length - 1;
  if (isList(view)) {
    const list = [...view];
    const index = Number(key);
    if (isLast && change.op === 'remove') list.splice(index, 1);
    else list[index] = apply(list[index] ?? null, change, depth + 1);
    return list;
  }
  if (!isObject(view)) return view; // a change of another state: nothing to change here
  if (isLast && change.op === 'remove')
    return Object.fromEntries(Object.entries(view).filter(([name]) => name !== key));
  return { ...view, [key]: apply(view[key] ?? null, change, depth + 1) };
}

/** The part of a view that a path leads to; undefined if the view has no such part. */
export function valueAt(view: StateView, path: StatePath): StateView | undefined {
  let value: StateView | undefined = view;
  for (const key of path) {
    if (value === undefined) return undefined;
    if (isList(value)) value = value[Number(key)];
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function isList(view: StateView): view is readonly StateView[] {
  return Array.isArray(view);
}

function isObject(view: StateView): view is StateObject {
  return typeof view === 'object' && view !== null && !isList(view);
}
