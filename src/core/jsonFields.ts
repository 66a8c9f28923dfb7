/** A non-empty text field of JSON from outside; undefined for a value of another type. */
export function textField(data: unknown, name: string): string | undefined {
  const value = fieldOf(data, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A finite number field of JSON from outside. */
export function numberField(data: unknown, name: string): number | undefined {
  const value = fieldOf(data, name);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A field of JSON from outside, never one that its prototype has; undefined for what has no fields. */
function fieldOf(data: unknown, name: string): unknown {
  return typeof data === 'object' && data !== null ? Object.getOwnPropertyDescriptor(data, name)?.value : undefined;
}
