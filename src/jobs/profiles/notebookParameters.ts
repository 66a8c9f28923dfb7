import * as z from 'zod';
import { expandValue, type VariableValues } from './variables.ts';

// A variable of the notebook, so no keyword of Python.
const KEYWORDS =
  'False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield';
const NAME = new RegExp(`^(?!(?:${KEYWORDS})$)[A-Za-z_]\\w{0,99}$`);

/** A JSON value whose texts may have variables. */
type ParameterTemplate =
  | string
  | number
  | boolean
  | null
  | readonly ParameterTemplate[]
  | { readonly [key: string]: ParameterTemplate };
export type NotebookParameters = Readonly<Record<string, ParameterTemplate>>;

/** The field of profiles for the parameters of a notebook. @param text one of their texts. */
export function notebookParameters(text: z.ZodString, message: string) {
  const value: z.ZodType<ParameterTemplate> = z.lazy(() =>
    z.union([text, z.number(), z.boolean(), z.null(), z.array(value), z.record(z.string(), value)], message),
  );
  return z.record(z.string().regex(NAME, 'Must be the name of a variable in Python.'), value);
}

/** The texts of the parameters, with their places. */
export function parameterTexts(parameters: NotebookParameters): readonly (readonly [PropertyKey[], string])[] {
  const textsIn = (value: ParameterTemplate, path: PropertyKey[]): readonly (readonly [PropertyKey[], string])[] => {
    if (typeof value === 'string') return [[path, value]];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, each]) =>
      textsIn(each, [...path, Array.isArray(value) ? Number(key) : key]),
    );
  };
  return textsIn(parameters, []);
}

/** The arguments of a notebook for its parameters, `NAME=VALUE`: a value is JSON, or else a text. */
export function parameterArguments(parameters: NotebookParameters, values: VariableValues): readonly string[] {
  const expand = (value: ParameterTemplate): ParameterTemplate => {
    if (typeof value === 'string') return expandValue(value, values);
    if (Array.isArray(value)) return value.map(expand);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expand(each)]));
  };
  return Object.entries(parameters).map(([name, template]) => {
    const value = expand(template);
    return `${name}=${typeof value === 'string' && isPlain(value) ? value : JSON.stringify(value)}`;
  });
}

/** Whether a text is one without quotes too. */
function isPlain(text: string): boolean {
  if (/[\r\n]/.test(text)) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
