import { isList, isSpecial, plainOf, type StateView, UNRECORDED } from '../protocol/stateView.ts';

/** The value at a key of the final state, or at a path such as `report.title`. */
export function finalValue(
  state: StateView,
  key: string,
): { readonly found: true; readonly value: unknown } | { readonly found: false; readonly reason: string } {
  let view: StateView | undefined = own(state, key);
  if (view === undefined) {
    view = state;
    for (const part of key.split('.')) view = view === undefined ? undefined : own(view, part);
  }
  if (view === undefined) return { found: false, reason: `the final state has no ${key}` };
  const value = plainOf(view);
  return value === UNRECORDED
    ? { found: false, reason: `${key} is not plain data, or too long to be recorded` }
    : { found: true, value };
}

/** A part of a state by its key; a key that starts with `$` is written with another `$` there. */
function own(view: StateView, key: string): StateView | undefined {
  if (typeof view !== 'object' || view === null || isSpecial(view)) return undefined;
  if (isList(view)) return /^\d+$/.test(key) ? view[Number(key)] : undefined;
  const escapedKey = key.startsWith('$') ? `$${key}` : key;
  return Object.hasOwn(view, escapedKey) ? view[escapedKey] : undefined;
}
