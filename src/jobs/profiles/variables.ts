import { AppError } from '../../core/errors.ts';
import { termsWith, type TermWith } from '../../remote/protocol/jobTerms.ts';
import type { JobParameters } from '../ledger/parameters.ts';

/** Where the values of variables come from. */
export interface VariableValues {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file that is open in the editor, relative to the folder; undefined if there is none. */
  readonly file: string | undefined;
  /** The values of the matrix for one job. */
  readonly parameters?: JobParameters;
}

const VARIABLE = /\$\{([^}]*)\}/g;
const ENVIRONMENT = /^env:([A-Za-z_]\w*)$/;
const PARAMETER = /^matrix:([A-Za-z_]\w*)$/;
/** A job runs in its own copy of the folder, so the path of the original would be wrong there. */
const FOLDER_OF_JOB = '.';

type TextTerm = TermWith<'hasVariables'>;
export type TermTexts = { readonly [Name in TextTerm]?: string | undefined };

/** The terms of a profile whose text may have variables. */
export function termTexts(profile: TermTexts): readonly (readonly [name: TextTerm, text: string])[] {
  return termsWith('hasVariables').flatMap((name) => {
    const text = profile[name];
    return text === undefined ? [] : [[name, text] as const];
  });
}

/** The names of the environment variables that a text reads. */
export function environmentNames(text: string): string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name = '']) => ENVIRONMENT.exec(name)?.[1] ?? []);
}

/** The names of the parameters of the matrix that a text reads. */
export function parameterNames(text: string): string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name = '']) => PARAMETER.exec(name)?.[1] ?? []);
}

/** The text with the values of its variables, as `expandVariables`, or the value of a parameter of the matrix if it is nothing else. */
export function expandValue(text: string, values: VariableValues): JobParameters[string] {
  const [name, ...others] = parameterNames(text);
  const isAlone = name !== undefined && others.length === 0 && text === `\${matrix:${name}}`;
  return (isAlone ? values.parameters?.[name] : undefined) ?? expandVariables(text, values);
}

/**
 * The text with the values of its variables.
 *
 * @param quote how to write a value, in a command line.
 * @throws AppError `missing` for an environment variable that is not set, or `${file}` without an open file.
 */
export function expandVariables(
  text: string,
  { env, file, parameters = {} }: VariableValues,
  quote: (value: string) => string = (value) => value,
): string {
  return text.replaceAll(VARIABLE, (_, name: string) => {
    if (name === 'workspaceFolder') return FOLDER_OF_JOB;
    const parameter = PARAMETER.exec(name)?.[1];
    const chosen = parameter !== undefined && Object.hasOwn(parameters, parameter) ? parameters[parameter] : undefined;
    if (chosen !== undefined) return quote(String(chosen));
    const variable = ENVIRONMENT.exec(name)?.[1];
    const value = variable === undefined ? file : env[variable];
    if (value !== undefined) return quote(value);
    throw new AppError(
      'missing',
      variable === undefined
        ? 'The profile runs the file that is open in the editor, and none is open, so nothing was sent. Open one, or specify a script.'
        : `The profile reads the environment variable ${variable}, which is not set, so nothing was sent. Set it first.`,
    );
  });
}
