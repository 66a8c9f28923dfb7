/** The documented type of each option. */
export type OptionShape = Readonly<Record<string, OptionType>>;

type OptionType =
  | 'string'
  | 'number'
  | 'boolean'
  | 'function'
  | 'object'
  | 'signal'
  | 'list'
  | 'string or list'
  | 'string or function';

/**
 * Checks the types of the options that are present; unknown ones are ignored.
 *
 * @param call how messages name the call, such as `new Node`.
 * @param name that of the node it is called on, for messages too. Not part of `call`, which a run would compose each time.
 * @throws TypeError that names the option.
 */
export function checkOptions(call: string, options: object, shape: OptionShape, name?: string): void {
  if (!isObject(options)) {
    throw new TypeError(
      `${callOf(call, name)} takes its options as an object, not ${kindOf(options)}: { ${Object.keys(shape)[0]}: … }.`,
    );
  }
  for (const option in options) {
    const value: unknown = Reflect.get(options, option);
    const type = Object.hasOwn(shape, option) ? shape[option] : undefined;
    if (type === undefined || value === undefined || isOf(type, value)) continue;
    throw new TypeError(`The option ${option} of ${callOf(call, name)} must be ${NAMES[type]}, not ${kindOf(value)}.`);
  }
}

function callOf(call: string, name: string | undefined): string {
  return name === undefined ? call : `${call} of "${name}"`;
}

const NAMES: Readonly<Record<OptionType, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
  signal: 'an AbortSignal',
  list: 'an array of strings',
  'string or list': 'a string or an array of strings',
  'string or function': 'a string or a function',
};

function isOf(type: OptionType, value: unknown): boolean {
  if (type === 'object') return isObject(value);
  if (type === 'signal') return isObject(value) && 'aborted' in value && 'addEventListener' in value;
  if (type === 'string or function') return typeof value === 'string' || typeof value === 'function';
  if (type !== 'list' && type !== 'string or list') return typeof value === type;
  if (typeof value === 'string') return type === 'string or list';
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return `the string "${value.slice(0, 40)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
