import { isTooDeep } from '../../core/jsonFields.ts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The value of a text that is JSON, else the text itself; also for JSON that is nested deeper than 1,000 levels.
 *
 * `JSON.parse` takes some microseconds to throw for a log line. The first and last characters show that most are not JSON.
 */
export function decodeIfJson(text: string): unknown {
  if (!mayBeJson(text) || isTooDeep(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function mayBeJson(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  // A line feed at either end comes from an empty data line, and JSON allows it there.
  if (last === 0x0a) return true;
  switch (text.charCodeAt(0)) {
    case 0x7b: // {
      return last === 0x7d;
    case 0x5b: // [
      return last === 0x5d;
    case 0x22: // "
      return last === 0x22;
    case 0x74: // t
      return text === 'true';
    case 0x66: // f
      return text === 'false';
    case 0x6e: // n
      return text === 'null';
    case 0x0a:
      return true;
    default:
      return NUMBER.test(text);
  }
}
