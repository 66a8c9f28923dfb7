import { AppError } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

// JSON.stringify throws a bare RangeError at some thousand levels; this limit gives an error with the path before that.
const MAX_DEPTH = 500;

/**
 * A deep copy of data that JSON restores exactly: plain objects, arrays, strings, finite numbers, booleans and null.
 * Object keys whose value is undefined are left out.
 *
 * @throws AppError `bad-input` that names the first key whose value JSON cannot restore: a function, a Map, a Date, a class
 * instance, NaN, a bigint, a cycle.
 */
export function toPlainJson(value: unknown, name: string): Json {
  return copy(value, name, []);
}

function copy(value: unknown, at: string, parents: readonly unknown[]): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'number' || value === undefined) throw notPlain(at, String(value));
  if (typeof value !== 'object') throw notPlain(at, `a ${typeof value}`);
  if (parents.includes(value)) throw notPlain(at, 'a reference back to an object that contains it');
  if (parents.length > MAX_DEPTH) throw notPlain(at, `nested more than ${MAX_DEPTH} levels deep`);
  const path = [...parents, value];
  if (Array.isArray(value)) return value.map((item, index) => copy(item, `${at}[${index}]`, path));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain(at, `a ${className(value)}`);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, copy(item, `${at}.${key}`, path)]));
}

/** What is left of a value after it is written as JSON: as models get the results of tools. */
export function writtenJson(value: unknown): Json {
  return toPlainJson(parseJson(JSON.stringify(value) ?? 'null'), 'The value');
}

/** JSON text that is the same for equal data, whatever the order in which keys were set. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function className(value: object): string {
  return value.constructor?.name || 'class instance';
}

function notPlain(at: string, what: string): AppError {
  return new AppError('bad-input', `${at} is ${what}, which JSON cannot store. Use plain data there.`);
}
