import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { schemaMessage, schemaProblems } from '../../core/text/schemaMessage.ts';
import { accountOperations, creditOperations } from './accountOperations.ts';
import { auditOperations } from './auditOperations.ts';
import { budgetOperations } from './budgetOperations.ts';
import { diskOperations } from './diskOperations.ts';
import { serviceOperations } from './serviceOperations.ts';
import { jobOperations } from './jobOperations.ts';
import { keyOperations } from './keyOperations.ts';
import { usageOperations } from './usageOperations.ts';
import type { AdminContext, AuditTarget, Operation } from './operation.ts';

/** Everything that an administrator can do, by name. */
const OPERATIONS = {
  ...accountOperations,
  ...auditOperations,
  ...creditOperations,
  ...budgetOperations,
  ...diskOperations,
  ...serviceOperations,
  ...jobOperations,
  ...keyOperations,
  ...usageOperations,
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
export type OperationInput<Name extends OperationName> = z.input<Operations[Name]['input']>;
export type OperationOutput<Name extends OperationName> = z.output<Operations[Name]['output']>;

/**
 * Runs the operation `name` and returns its output, which JSON can represent.
 *
 * @throws AppError `missing` for an unknown operation, `bad-input` that names what is wrong in the input, or the operation's own.
 */
export async function runOperation(context: AdminContext, name: string, input: unknown): Promise<unknown> {
  const operations: Readonly<Record<string, Operation>> = OPERATIONS;
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation === undefined) {
    throw new AppError('missing', `This service does not support ${name}. Its version may differ from the command's.`);
  }
  const parsed = operation.input.safeParse(input, { error: schemaMessage });
  if (!parsed.success) {
    throw new AppError('bad-input', `${schemaProblems(parsed.error, (path) => path || 'input')}.`);
  }
  return operation.audit === undefined
    ? operation.run(context, parsed.data)
    : runAudited(context, name, operation, operation.audit, parsed.data);
}

/** Whether an operation changes something; false for an unknown one. */
export function isChange(name: string): boolean {
  const operations: Readonly<Record<string, Operation>> = OPERATIONS;
  return Object.hasOwn(operations, name) && operations[name]?.audit !== undefined;
}

/** Runs an operation together with its entry in the audit trail: without the entry, it changes nothing. */
function runAudited(
  context: AdminContext,
  verb: string,
  operation: Operation,
  audit: NonNullable<Operation['audit']>,
  input: unknown,
): unknown {
  const { store, operator } = context;
  const target = audit.target(input);
  const before = stateOf(store, audit, target, input);
  const entry = { at: new Date().toISOString(), operator, verb, input, before };
  try {
    const output = store.audit.alongside(
      () => operation.run(context, input),
      (output) => {
        const changed = audit.target(input, output);
        return { ...entry, ...changed, after: stateOf(store, audit, changed, input), outcome: 'done' };
      },
    );
    return operation.afterwards === undefined ? output : operation.afterwards(context, input);
  } catch (error) {
    const outcome = error instanceof AppError ? `${error.code}: ${error.message}` : 'failed';
    store.audit.append({ ...entry, ...target, outcome });
    throw error;
  }
}

/** Null for what does not exist. */
function stateOf(
  store: AdminContext['store'],
  audit: NonNullable<Operation['audit']>,
  target: AuditTarget,
  input: unknown,
): unknown {
  try {
    return audit.state(store, target, input);
  } catch (error) {
    if (error instanceof AppError && error.code === 'missing') return null;
    throw error;
  }
}

/**
 * Validates the output of an operation, which may have come over the socket.
 *
 * @throws AppError `corrupt` if it does not match the operation's schema.
 */
export function readOutput<Name extends OperationName>(name: Name, value: unknown): OperationOutput<Name> {
  const result = OPERATIONS[name].output.safeParse(value);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of this very operation
  if (result.success) return result.data as OperationOutput<Name>;
  throw new AppError(
    'corrupt',
    `The service's response to ${name} is not valid. Its version may differ from the command's.`,
  );
}
