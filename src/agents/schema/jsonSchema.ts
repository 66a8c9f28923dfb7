import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import type { Schema } from './standardSchema.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

const MAX_HOPS = 16;

/** A library that describes its schemas in JSON Schema through a package of its own. */
interface Writer {
  readonly package: string;
  write(library: Readonly<Record<string, unknown>>, schema: Schema): unknown;
}

const WRITERS: Readonly<Record<string, Writer>> = {
  zod: { package: 'zod-to-json-schema', write: ({ zodToJsonSchema }, schema) => call(zodToJsonSchema, schema) },
  valibot: {
    package: '@valibot/to-json-schema',
    write: ({ toJsonSchema }, schema) => call(toJsonSchema, schema, { typeMode: 'input', errorMode: 'ignore' }),
  },
  effect: {
    package: 'effect',
    write: ({ JSONSchema }, schema) => call(isRecord(JSONSchema) ? JSONSchema['make'] : undefined, schema),
  },
};

/**
 * The JSON Schema of the values that a schema accepts, without `$schema`: by Standard JSON Schema where its library follows that, else by
 * the library itself or its package for JSON Schema, if that is installed. Undefined for other schemas, which can only be checked.
 *
 * @throws AppError `bad-input` if it cannot be written as JSON Schema.
 */
export async function jsonSchemaOf(schema: Schema): Promise<JsonSchema | undefined> {
  try {
    const written = await writtenSchema(schema);
    if (!isRecord(written)) return undefined;
    const { $schema: _version, ...rest } = written;
    return rest;
  } catch (error) {
    const message = `The schema cannot be written as JSON Schema: ${String(error)}`;
    throw new AppError('bad-input', message, { cause: error });
  }
}

/** How a library's schemas become visible to a model. */
export function jsonSchemaAdvice({ '~standard': { vendor } }: Schema): string {
  const packageName = Object.hasOwn(WRITERS, vendor) ? WRITERS[vendor]?.package : undefined;
  return packageName === undefined ? 'Use a schema of zod 4' : `Install ${packageName}, or use a schema of zod 4`;
}

async function writtenSchema(schema: Schema): Promise<unknown> {
  const standard: object = schema['~standard'];
  if ('jsonSchema' in standard && hasInput(standard.jsonSchema)) {
    return standard.jsonSchema.input({ target: 'draft-2020-12' });
  }
  if (isZod4(schema)) {
    const { toJSONSchema } = await import('./zodJsonSchema.ts');
    return toJSONSchema(schema, { io: 'input' });
  }
  const own: unknown = Reflect.get(schema, 'toJsonSchema'); // of arktype
  if (typeof own === 'function') return Reflect.apply(own, schema, []);
  const { vendor } = schema['~standard'];
  const writer = Object.hasOwn(WRITERS, vendor) ? WRITERS[vendor] : undefined;
  if (writer === undefined) return undefined;
  const library = await installed(writer.package);
  return library === undefined ? undefined : writer.write(library, schema);
}

async function installed(name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const library: unknown = await import(name); // not a literal, or bundlers and the compiler would need the package
    return isRecord(library) ? library : undefined;
  } catch {
    return undefined;
  }
}

function call(method: unknown, ...args: readonly unknown[]): unknown {
  return typeof method === 'function' ? Reflect.apply(method, undefined, args) : undefined;
}

function isZod4(schema: object): schema is z.ZodType {
  return '_zod' in schema;
}

function hasInput(value: unknown): value is { input(options: { readonly target: string }): JsonSchema } {
  return typeof value === 'object' && value !== null && 'input' in value && typeof value.input === 'function';
}

/** The part of a schema that a reference such as `#/$defs/Item` points to; undefined if it has none. */
export function subschemaAt(root: JsonSchema, reference: string): unknown {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  let subschema: unknown = root;
  for (const key of reference.slice(1).split('/').slice(1)) {
    const name = unescaped(key);
    if (Array.isArray(subschema)) subschema = (subschema as unknown[])[Number(name)];
    else subschema = isRecord(subschema) && Object.hasOwn(subschema, name) ? subschema[name] : undefined;
  }
  return subschema;
}

function unescaped(key: string): string {
  let plain = key;
  try {
    plain = decodeURIComponent(key);
  } catch {
    // a name with a percent sign
  }
  return plain.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Whether a value of a schema may be null. */
export function jsonSchemaAcceptsNull(root: JsonSchema, schema: unknown, hops = 0): boolean {
  if (!isRecord(schema) || hops > MAX_HOPS) return schema !== false;
  const { $ref, type, enum: values, const: only } = schema;
  const accepts = (part: unknown): boolean => jsonSchemaAcceptsNull(root, part, hops + 1);
  if (typeof $ref === 'string') return accepts(subschemaAt(root, $ref));
  if ('const' in schema) return only === null;
  if (Array.isArray(values)) return values.includes(null);
  if (type !== undefined) return [type].flat().includes('null');
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return branches.some(accepts);
  const { allOf } = schema;
  if (Array.isArray(allOf)) return allOf.every(accepts);
  return !('properties' in schema);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
