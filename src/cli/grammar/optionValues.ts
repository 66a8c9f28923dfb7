import { Option } from 'commander';
import { AppError } from '../../core/errors.ts';
import { variableNames } from '../../flows/run/protocol/flowEnvironment.ts';

const CONFLICT_CHOICES = ['keep-both', 'overwrite', 'skip'];

/** `--on-conflict`, for the commands that bring results home. */
export function conflictOption(): Option {
  return new Option('--on-conflict <choice>', 'when a result and a file of yours have one name')
    .choices(CONFLICT_CHOICES)
    .default('keep-both');
}

/**
 * Reads the value of a flag that takes whole numbers.
 *
 * @throws (when read) AppError `bad-input` that names the flag and the numbers that it takes.
 */
export function wholeNumber(flag: string, { min, max }: { min: number; max?: number }): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER)) return number;
    const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new AppError('bad-input', `Invalid value "${text}". Enter a whole number ${range} for ${flag}.`);
  };
}

/** `--env`, for the commands that run code of flow files. */
export function environmentOption(): Option {
  const read = (name: string, before?: readonly string[]): readonly string[] => {
    variableNames([name], '--env');
    return collect(name, before);
  };
  return new Option('--env <name>', 'pass this environment variable to the flow; may be repeated').argParser(read);
}

/** Reads a flag that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
