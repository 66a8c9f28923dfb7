import { isSpecial, type StateView } from '../protocol/stateView.ts';

/** Represents a value that JSON cannot store, or that is too long to be recorded. */
export const UNRECORDED = Symbol('a value that was not recorded');

/** The value that a view shows; `UNRECORDED` if the view does not have all of it. */
export function plainOf(view: StateView): unknown {
  if (typeof view !== 'object' || view === null) return view;
  if (isSpecial(view)) return UNRECORDED;
  const entries = isList(view) ? [...view.entries()] : Object.entries(view);
  const values = entries.map(([key, inner]) => [key, plainOf(inner)] as const);
  if (values.some(([key, inner]) => inner === UNRECORDED || key === '$more')) return UNRECORDED;
  if (isList(view)) return values.map(([, inner]) => inner);
  return Object.fromEntries(values.map(([key, inner]) => [String(key).replace(/^\$\$/, '$'), inner]));
}

export function isList(view: StateView): view is readonly StateView[] {
  return Array.isArray(view);
}
