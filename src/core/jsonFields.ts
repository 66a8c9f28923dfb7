/** Deeper values can be parsed, but `JSON.stringify` and `structuredClone` would later overflow the stack. */
export const MAX_JSON_DEPTH = 1_000;

/** Parses JSON that this program wrote, as a checksum or its place proves. It is not checked. @throws SyntaxError */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type
export function parseOwnJson<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(text) as T;
}

/** Parses JSON from outside. @throws SyntaxError for a text that is not JSON or is nested deeper than 1,000. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text))
    throw new SyntaxError(`it is nested deeper than ${MAX_JSON_DEPTH.toLocaleString('en-US')} levels`);
  return JSON.parse(text);
}

/** The value of untrusted JSON; undefined for any other text, and for values that are nested deeper than 1,000. */
export function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
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

/** Whether JSON text is nested deeper than `MAX_JSON_DEPTH`. Counts brackets outside strings. */
export function isTooDeep(text: string): boolean {
  // A shorter text cannot be nested that deep.
  if (text.length < 2 * MAX_JSON_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) {
      isInString = true;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}
