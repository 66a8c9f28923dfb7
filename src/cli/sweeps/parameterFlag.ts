import { AppError } from '../../core/errors.ts';
import { type JobParameters, parameterOf } from '../../jobs/ledger/parameters.ts';
import { type Flag, listFlag } from '../command/flags.ts';

type Parameter = readonly [name: string, value: JobParameters[string]];

/** `--set`: values for parameters of a matrix. */
export function parameterFlag(description: string): Flag<readonly string[] | undefined> {
  return listFlag('--set <name=value>', description, readParameter);
}

/** `lr=0.1` as a name and a value: a number or a boolean if it is written as one. @throws AppError `bad-input` for another form. */
export function readParameter(text: string): Parameter {
  const [, name, value] = /^([A-Za-z]\w*)=(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new AppError(
      'bad-input',
      `Invalid value "${text}". Enter a parameter and its value for --set, such as lr=0.1.`,
    );
  }
  return [name, parameterOf(value)];
}
