import { stableJson } from '../records/plainJson.ts';
import { type JsonSchema, jsonSchemaOf } from '../schema/jsonSchema.ts';
import { isSchema, type Schema } from '../schema/standardSchema.ts';

/** The key, in the symbol registry, of functions that create the schemas of the loaded flow file. */
export const ANSWER_SCHEMAS = 'farwharf.answerSchemas.1';

/**
 * The schema in the loaded flow file that a checkpoint has as JSON Schema. Undefined if there is none, or if it needs variables of the
 * hook that paused.
 */
export async function schemaOfFile(jsonSchema: JsonSchema): Promise<Schema | undefined> {
  const creators: unknown = Reflect.get(globalThis, Symbol.for(ANSWER_SCHEMAS));
  const wanted = stableJson(jsonSchema);
  for (const create of Array.isArray(creators) ? creators : []) {
    const schema = created(create);
    if (schema === undefined) continue;
    const written = await jsonSchemaOf(schema).catch((): undefined => undefined);
    if (written !== undefined && stableJson(written) === wanted) return schema;
  }
  return undefined;
}

function created(create: unknown): Schema | undefined {
  try {
    const schema = isCreator(create) ? create() : undefined;
    return isSchema(schema) ? schema : undefined;
  } catch {
    return undefined; // it uses a variable of its hook
  }
}

function isCreator(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

/** Data with the defaults of a JSON Schema, which its library would apply: those of keys, also inside of lists and objects. */
export function withDefaults(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value;
  if (value === undefined) return structuredClone(schema['default']);
  const { properties, items } = schema;
  if (Array.isArray(value)) return value.map((item) => withDefaults(items, item));
  if (!isObject(value) || !isObject(properties)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [key, inner] of Object.entries(properties)) {
    const item = withDefaults(inner, Object.hasOwn(value, key) ? value[key] : undefined);
    if (item !== undefined)
      Object.defineProperty(filled, key, { value: item, writable: true, enumerable: true, configurable: true });
  }
  return filled;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
