import { type StateChange, valueAt } from './stateChange.ts';
import { isSpecial, type StateView } from './stateView.ts';

const MAX_VALUE = 2_000;
const MAX_STATE = 20_000;

/** A readable change of the shared state: values are JSON or a short description, truncated. */
export interface ShownChange {
  readonly path: readonly string[];
  /** Undefined if the key did not exist. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The changes of a step, with the values before it. */
export function showChanges(before: StateView, changes: readonly StateChange[]): readonly ShownChange[] {
  return changes.map((change) => {
    const old = valueAt(before, change.path);
    return {
      path: change.path.map(String),
      before: old === undefined ? undefined : showValue(old, MAX_VALUE),
      after: change.op === 'set' ? showValue(change.value, MAX_VALUE) : undefined,
    };
  });
}

/** All of a state as indented JSON. */
export function showState(state: StateView): string {
  return showValue(state, MAX_STATE);
}

function showValue(value: StateView, limit: number): string {
  const text = JSON.stringify(value, (_key, part: StateView) => (isSpecial(part) ? `‹${part.text}›` : part), 2);
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length - limit} characters more)`;
}
