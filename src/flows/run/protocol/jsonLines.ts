import { tryParseJson } from '../../../core/jsonFields.ts';
/**
 * The values of a file of JSON lines. Skips lines that a crash cut off or damaged, and values for which `read` returns
 * undefined.
 */
export function parseLines<T>(text: string, read: (value: unknown) => T | undefined): readonly T[] {
  const values: T[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const value = read(tryParseJson(line));
    if (value !== undefined) values.push(value);
  }
  return values;
}
