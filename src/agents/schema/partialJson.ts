import { MAX_JSON_DEPTH } from '../../core/jsonFields.ts';

/**
 * The value of a JSON text that may end anywhere: what has arrived of it. Strings are as long as what arrived, and numbers, literals and keys
 * appear once they are complete. Undefined if nothing of a value has arrived, or if the text is not JSON or nested too deeply.
 */
export function partialJson(text: string): unknown {
  const closed = closedText(text);
  if (closed === undefined) return undefined;
  try {
    return JSON.parse(closed) as unknown;
  } catch {
    return undefined;
  }
}

/** The text up to the last place where it can be closed, with what closes it. */
function closedText(text: string): string | undefined {
  const open: string[] = [];
  let result: string | undefined;
  let isKey = false;
  const closeAt = (end: number, tail = ''): void => {
    result = text.slice(0, end) + tail + open.toReversed().join('');
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = stringEnd(text, at);
      if (end === undefined) {
        if (!isKey) closeAt(withoutOpenEscape(text), '"');
        return result;
      }
      at = end;
      if (!isKey) closeAt(end + 1);
    } else if (character === '{' || character === '[') {
      if (open.length >= MAX_JSON_DEPTH) return undefined;
      open.push(character === '{' ? '}' : ']');
      isKey = character === '{';
      closeAt(at + 1);
    } else if (character === '}' || character === ']') {
      open.pop();
      isKey = false;
      closeAt(at + 1);
    } else if (character === ':') {
      isKey = false;
    } else if (character === ',') {
      isKey = open.at(-1) === '}';
    } else if (character !== undefined && /[-\w.+]/.test(character)) {
      const end = at + (/^[-\w.+]+/.exec(text.slice(at, at + 400))?.[0].length ?? 1);
      if (end >= text.length) return result; // more of it may follow
      at = end - 1;
      closeAt(end);
    }
  }
  return result;
}

/** Where the string that begins at `start` ends; undefined if its end has not arrived. */
function stringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return undefined;
}

/** The length without an escape sequence that is not complete. */
function withoutOpenEscape(text: string): number {
  const slash = text.lastIndexOf('\\');
  if (slash < 0 || !/^\\(?:u[\da-fA-F]{0,3})?$/.test(text.slice(slash, slash + 6)) || text.length > slash + 5)
    return text.length;
  let first = slash;
  while (text[first - 1] === '\\') first -= 1;
  return (slash - first) % 2 === 0 ? slash : text.length; // pairs are backslashes themselves
}
