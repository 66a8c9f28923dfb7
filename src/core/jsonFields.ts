/** Parses JSON that this program wrote, as a checksum or its place proves. It is not checked. @throws SyntaxError */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type
export function parseOwnJson<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(text) as T;
}

/** The value of untrusted JSON; undefined for any other text. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A non-empty text field of untrusted JSON; undefined for other values. */
export function textField(data: unknown, name: string): string | undefined {
  const value = fieldOf(data, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A finite number field of untrusted JSON; undefined for other values. */
export function numberField(data: unknown, name: string): number | undefined {
  const value = fieldOf(data, name);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A field of untrusted JSON, but never one of its prototype; undefined for values without fields. */
export function fieldOf(data: unknown, name: string): unknown {
  return typeof data === 'object' && data !== null ? Object.getOwnPropertyDescriptor(data, name)?.value : undefined;
}
