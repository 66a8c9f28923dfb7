import { Option } from 'commander';
import { AppError, messageOf } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';

/** A flag of a verb, with the type of its value. */
export interface Flag<T> {
  /** As the command line declares it; several for a flag with a `--no-` form. */
  readonly options: readonly Option[];
  /** Types the parsed value; undefined when the flag is absent and has no default. */
  readonly read: (value: unknown) => T;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
type ValueOf<F> = F extends Flag<infer T> ? T : never;

/** What a verb receives: each flag by its key. Flags that can be absent are optional. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F as undefined extends ValueOf<F[K]> ? never : K]: ValueOf<F[K]>;
} & {
  readonly [K in keyof F as undefined extends ValueOf<F[K]> ? K : never]?: Exclude<ValueOf<F[K]>, undefined>;
};

/** A flag without a value: `--watch`. */
export function switchFlag(spelling: string, description: string): Flag<boolean> {
  return { options: [new Option(spelling, description)], read: (value) => value === true };
}

/** `--json`, with what it prints. */
export function jsonFlag(description = 'print JSON'): Flag<boolean> {
  return switchFlag('--json', description);
}

/** A switch that the help does not show. */
export function hiddenSwitch(spelling: string): Flag<boolean> {
  return { options: [new Option(spelling).hideHelp()], read: (value) => value === true };
}

/** A flag with a text: `--project <name>`. */
export function textFlag(spelling: string, description: string): Flag<string | undefined> {
  return { options: [new Option(spelling, description)], read: textOf };
}

/** A flag with a text that is `fallback` when the flag is absent. */
export function textFlagOr(spelling: string, description: string, fallback: string): Flag<string> {
  return {
    options: [new Option(spelling, description).default(fallback)],
    read: (value) => textOf(value) ?? fallback,
  };
}

/** A flag with a text that must be given. */
export function requiredTextFlag(spelling: string, description: string): Flag<string> {
  return { options: [new Option(spelling, description).makeOptionMandatory()], read: (value) => textOf(value) ?? '' };
}

/** A flag with a text, and a `--no-` form that makes the value false. */
export function optionalTextFlag(
  spelling: string,
  description: string,
  noDescription: string,
): Flag<string | false | undefined> {
  const option = new Option(spelling, description);
  const off = new Option(`--no-${option.name()}`, noDescription);
  return { options: [option, off], read: (value) => (value === false ? false : textOf(value)) };
}

/** A switch with a `--no-` form; undefined without either. */
export function optionalSwitchFlag(
  spelling: string,
  description: string,
  noDescription: string,
): Flag<boolean | undefined> {
  const option = new Option(spelling, description);
  const off = new Option(`--no-${option.name()}`, noDescription);
  return { options: [option, off], read: (value) => (typeof value === 'boolean' ? value : undefined) };
}

/** A flag with a whole number. A number outside the range is refused, and the error names the flag and the range. */
export function optionalNumberFlag(
  spelling: string,
  description: string,
  range: { readonly min: number; readonly max?: number },
): Flag<number | undefined> {
  return parsedFlag(spelling, description, (name, text) => readWholeNumber(name, text, range));
}

/** A flag with an amount of credits, which may have decimals. */
export function creditsFlag(spelling: string, description: string): Flag<number | undefined> {
  return parsedFlag(spelling, description, (name, text) => {
    if (/^\d{1,12}(?:\.\d{1,6})?$/.test(text)) return Number(text);
    throw new AppError('bad-input', `Invalid value "${text}". Enter an amount of credits for ${name}, such as 12.5.`);
  });
}

/** @param parse gets the flag without its placeholder, and the typed text. */
function parsedFlag(
  spelling: string,
  description: string,
  parse: (name: string, text: string) => number,
): Flag<number | undefined> {
  const [name = spelling] = spelling.split(' ');
  return {
    options: [new Option(spelling, description).argParser((text: string) => parse(name, text))],
    read: (value) => (typeof value === 'number' ? value : undefined),
  };
}

/** A flag with a whole number that is `fallback` when the flag is absent. */
export function numberFlag(
  spelling: string,
  description: string,
  { fallback, ...range }: { readonly min: number; readonly max?: number; readonly fallback: number },
): Flag<number> {
  const { options, read } = optionalNumberFlag(spelling, description, range);
  return { options: options.map((option) => option.default(fallback)), read: (value) => read(value) ?? fallback };
}

/** A flag with one of a few words. */
export function choiceFlag<const C extends string>(
  spelling: string,
  description: string,
  choices: readonly C[],
): Flag<C | undefined> {
  const option = new Option(spelling, description).choices(choices);
  return { options: [option], read: (value) => choices.find((choice) => choice === value) };
}

/** A flag with one of a few words that is `fallback` when the flag is absent. */
export function choiceFlagOr<const C extends string>(
  spelling: string,
  description: string,
  { choices, fallback }: { readonly choices: readonly C[]; readonly fallback: NoInfer<C> },
): Flag<C> {
  const option = new Option(spelling, description).choices(choices).default(fallback);
  return { options: [option], read: (value) => choices.find((choice) => choice === value) ?? fallback };
}

/** A flag that can be repeated: all its texts, in order. @param check throws for a text that is not valid. */
export function listFlag(
  spelling: string,
  description: string,
  check: (text: string) => void = () => {},
): Flag<readonly string[] | undefined> {
  const collect = (text: string, before: readonly string[] = []): readonly string[] => {
    check(text);
    return [...before, text];
  };
  return {
    options: [new Option(spelling, `${description}; can be repeated`).argParser(collect)],
    read: (value) => (Array.isArray(value) ? value.filter((text) => typeof text === 'string') : undefined),
  };
}

/** What to do when a result and a local file have the same name. `merge` concerns notebooks, and is `keep-both` for other files. */
export type ConflictChoice = 'merge' | RestoreConflictChoice;
export type RestoreConflictChoice = 'keep-both' | 'overwrite' | 'skip';

/** `--on-conflict`, for the verbs that download results. */
export function conflictFlag(): Flag<ConflictChoice> {
  return choiceFlagOr(
    '--on-conflict <choice>',
    'what to do when a result has the name of one of your files; merge replaces what is as submitted, puts the outputs of a notebook into yours, and keeps both of other files',
    { choices: ['merge', 'keep-both', 'overwrite', 'skip'], fallback: 'merge' },
  );
}

/** `--on-conflict`, for the verb that restores files. */
export function restoreConflictFlag(): Flag<RestoreConflictChoice> {
  return choiceFlagOr('--on-conflict <choice>', 'what to do when one of your files has the name of a restored one', {
    choices: ['keep-both', 'overwrite', 'skip'],
    fallback: 'keep-both',
  });
}

/** Types the values that the command line parser found. Absent flags without a default have no key. */
export function readFlags<F extends Flags>(flags: F, values: Readonly<Record<string, unknown>>): FlagValues<F>;
export function readFlags(flags: Flags, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const found = Object.entries(flags).map(([key, { options, read }]) => {
    const name = options[0]?.attributeName() ?? key;
    return [key, read(values[name])] as const;
  });
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function readWholeNumber(flag: string, text: string, { min, max }: { min: number; max?: number }): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER)) return number;
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new AppError('bad-input', `Invalid value "${text}". Enter a whole number ${range} for ${flag}.`);
}

/** A JSON object. @param name the source of the text, for errors. @throws AppError `bad-input` for any other text. */
export function parseJsonObject(text: string, name: string, example: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new AppError('bad-input', `${name} is not valid JSON: ${messageOf(cause)}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new AppError('bad-input', `${name} must be a JSON object such as ${example}.`);
}
