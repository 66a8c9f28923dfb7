import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import type { Schema } from './standardSchema.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of the values that a schema accepts: by Standard JSON Schema where its library follows that, else by zod for a schema of
 * zod. Undefined for schemas of other libraries, which can only be checked.
 *
 * @throws AppError `bad-input` if it cannot be written as JSON Schema.
 */
export async function jsonSchemaOf(schema: Schema): Promise<JsonSchema | undefined> {
  try {
    const standard: object = schema['~standard'];
    if ('jsonSchema' in standard && hasInput(standard.jsonSchema)) {
      return standard.jsonSchema.input({ target: 'draft-2020-12' });
    }
    if (!isZod(schema)) return undefined;
    const { toJSONSchema } = await import('./zodJsonSchema.ts');
    return toJSONSchema(schema, { io: 'input' });
  } catch (error) {
    const message = `The schema cannot be written as JSON Schema: ${String(error)}`;
    throw new AppError('bad-input', message, { cause: error });
  }
}

function isZod(schema: object): schema is z.ZodType {
  return '_zod' in schema;
}

function hasInput(value: unknown): value is { input(options: { readonly target: string }): JsonSchema } {
  return typeof value === 'object' && value !== null && 'input' in value && typeof value.input === 'function';
}
