import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { accountOperations } from './accountOperations.ts';
import { backupOperations } from './backupOperations.ts';
import { creditOperations } from './creditOperations.ts';
import { diskOperations } from './diskOperations.ts';
import { keyOperations } from './keyOperations.ts';
import { usageOperations } from './usageOperations.ts';
import type { AdminContext, Operation } from './operation.ts';

/** Everything that an administrator can do, by name. */
const OPERATIONS = {
  ...accountOperations,
  ...creditOperations,
  ...backupOperations,
  ...diskOperations,
  ...keyOperations,
  ...usageOperations,
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
export type OperationInput<Name extends OperationName> = z.input<Operations[Name]['input']>;
export type OperationOutput<Name extends OperationName> = z.output<Operations[Name]['output']>;

/**
 * Does what `name` says and gives its answer as JSON can carry it.
 *
 * @throws AppError `missing` where there is no such operation, `bad-input` that names what is wrong in its input, or what
 * the operation throws.
 */
export async function runOperation(context: AdminContext, name: string, input: unknown): Promise<unknown> {
  const known: Readonly<Record<string, Operation>> = OPERATIONS;
  const operation = Object.hasOwn(known, name) ? known[name] : undefined;
  if (operation === undefined) {
    throw new AppError('missing', `This service knows no ${name}. It may be of another version than the command.`);
  }
  const parsed = operation.input.safeParse(input);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`);
    throw new AppError('bad-input', `${problems.join('; ')}.`);
  }
  return operation.run(context, parsed.data);
}

/**
 * Types an answer that came from an operation, by whatever way.
 *
 * @throws AppError `corrupt` when it is not one.
 */
export function readOutput<Name extends OperationName>(name: Name, value: unknown): OperationOutput<Name> {
  const result = OPERATIONS[name].output.safeParse(value);
  if (result.success) return result.data as OperationOutput<Name>;
  throw new AppError('corrupt', `The service's answer to ${name} makes no sense. It may be of another version.`);
}
