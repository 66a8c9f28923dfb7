import { AppError, isErrorCode } from '../errors.ts';

/** An error as plain data, which can be sent to another thread. */
export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause?: ErrorData | undefined;
}

export function encodeError(error: unknown): ErrorData {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), fields: {} };
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(error)) {
    const value: unknown = Reflect.get(error, key);
    if (['string', 'number', 'boolean'].includes(typeof value)) fields[key] = value;
  }
  const cause = error.cause === undefined ? undefined : encodeError(error.cause);
  return { name: error.name, message: error.message, stack: error.stack, fields, cause };
}

/** The error with its name, code, status and causes. An `AppError` is restored as one; other classes keep their name and fields. */
export function decodeError({ name, message, stack, fields, cause }: ErrorData): Error {
  const options = cause === undefined ? undefined : { cause: decodeError(cause) };
  const { code } = fields;
  const error =
    name === 'AppError' && isErrorCode(code)
      ? new AppError(code, message, options)
      : Object.assign(new Error(message, options), { name }, fields);
  if (stack !== undefined) error.stack = stack;
  return error;
}
