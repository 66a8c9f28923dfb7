import { editDistance } from '../../core/text/similar.ts';
import { isSchema } from './standardSchema.ts';

/** setTimeout fires immediately for longer delays. */
export const MAX_TIMER_SECONDS = 2_147_483;

/** The documented type of each option; `any` for one that is checked elsewhere. */
export type OptionShape = Readonly<Record<string, OptionType>>;

type OptionType =
  | 'any'
  | 'string'
  | 'number'
  | 'boolean'
  | 'function'
  | 'object'
  | 'signal'
  | 'schema'
  | 'list'
  | 'string or list'
  | 'string or function';

/**
 * Checks the options that are present: an unknown one would otherwise have no effect and nobody would notice.
 *
 * @param call how messages name the call, such as `new Node`.
 * @param name that of the node it is called on, for messages too. Not part of `call`, which a run would compose each time.
 * @param hasOthers whether there can be options that the shape does not have. Asked only if there is one, unless it is a known one misspelt.
 * @throws TypeError that names an option that is unknown or of another type.
 */
export function checkOptions(
  call: string,
  options: object,
  shape: OptionShape,
  { name, hasOthers }: { readonly name?: string; readonly hasOthers?: () => boolean } = {},
): void {
  if (!isObject(options)) {
    throw new TypeError(
      `${callOf(call, name)} takes its options as an object, not ${kindOf(options)}: { ${Object.keys(shape)[0]}: … }.`,
    );
  }
  for (const option in options) {
    const value: unknown = Reflect.get(options, option);
    if (value === undefined) continue;
    const type = Object.hasOwn(shape, option) ? shape[option] : undefined;
    if (type === undefined) {
      const { isMisspelt, text } = adviceFor(option, Object.keys(shape));
      if (!isMisspelt && hasOthers?.() === true) continue;
      throw new TypeError(`${callOf(call, name)} has no option ${option}. ${text}`);
    }
    if (isOf(type, value)) continue;
    throw new TypeError(`The option ${option} of ${callOf(call, name)} must be ${NAMES[type]}, not ${kindOf(value)}.`);
  }
}

/** Names the right option for one that differs by its case, by underscores, or by few letters for its length, or else all. */
function adviceFor(option: string, optionNames: readonly string[]): { readonly isMisspelt: boolean; text: string } {
  const similarOption = optionNames.find((one) => {
    const [written, right] = [option, one].map((word) => word.replaceAll('_', '').toLowerCase());
    if (written === undefined || right === undefined) return false;
    const limit = mostDifferent(Math.min(written.length, right.length));
    return editDistance(written, right, limit) <= limit;
  });
  if (similarOption !== undefined) return { isMisspelt: true, text: `Did you mean ${similarOption}?` };
  return { isMisspelt: false, text: `Its options: ${optionNames.join(', ')}.` };
}

/** Short words resemble others by chance: `date` and `name`. */
function mostDifferent(length: number): number {
  if (length < 6) return 0;
  return length < 8 ? 1 : 3;
}

function callOf(call: string, name: string | undefined): string {
  return name === undefined ? call : `${call} of "${name}"`;
}

const NAMES: Readonly<Record<OptionType, string>> = {
  any: 'anything',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
  signal: 'an AbortSignal',
  schema: 'a schema, such as z.object({ … })',
  list: 'an array of strings',
  'string or list': 'a string or an array of strings',
  'string or function': 'a string or a function',
};

function isOf(type: OptionType, value: unknown): boolean {
  if (type === 'any') return true;
  if (type === 'object') return isObject(value);
  if (type === 'schema') return isSchema(value);
  if (type === 'signal') return isObject(value) && 'aborted' in value && 'addEventListener' in value;
  if (type === 'string or function') return typeof value === 'string' || typeof value === 'function';
  if (type !== 'list' && type !== 'string or list') return typeof value === type;
  if (typeof value === 'string') return type === 'string or list';
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, for messages: `the number 5`, `an object`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return `the string "${value.slice(0, 40)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** @throws RangeError if the option is not a whole number of at least 1. */
export function requireWholeNumber(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new RangeError(`${option} is ${String(value)}; it must be a whole number of at least 1.`);
}
