import type { Value } from './values.ts';

/** Whether a value is truthy; undefined if unknown. */
export function truth(value: Value): boolean | undefined {
  if (value.type === 'undefined' || value.type === 'null') return false;
  if (value.type === 'literal') return Boolean(value.value);
  if (value.type === 'unknown' || value.type === 'shared') return undefined;
  if (value.type !== 'union') return true;
  const [first, ...rest] = value.values.map(truth);
  return rest.every((other) => other === first) ? first : undefined;
}
