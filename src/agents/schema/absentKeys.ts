import { type JsonSchema, isRecord, jsonSchemaAcceptsNull, subschemaAt } from './jsonSchema.ts';

const MAX_DEPTH = 200;

/**
 * A reply without the nulls that stand for absent keys: services require every key, so models write null for those that are optional and
 * do not accept it.
 */
export function withAbsentKeys(schema: JsonSchema, value: unknown): unknown {
  return new Restorer(schema).restore(schema, value, 0);
}

class Restorer {
  readonly #root: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  restore(schema: unknown, value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null || !isRecord(schema) || depth > MAX_DEPTH) return value;
    const { $ref, allOf } = schema;
    if (typeof $ref === 'string') return this.restore(subschemaAt(this.#root, $ref), value, depth + 1);
    let restored: unknown = value;
    if (Array.isArray(allOf)) for (const part of allOf) restored = this.restore(part, restored, depth + 1);
    const branches = schema['anyOf'] ?? schema['oneOf'];
    if (Array.isArray(branches)) restored = this.restore(this.#branchFor(branches, restored), restored, depth + 1);
    if (Array.isArray(restored)) return this.#array(schema, restored, depth);
    return isRecord(restored) ? this.#object(schema, restored, depth) : restored;
  }

  #object({ properties, required, additionalProperties }: JsonSchema, value: JsonSchema, depth: number): JsonSchema {
    const declared = isRecord(properties) ? properties : {};
    const requiredKeys = new Set<unknown>(Array.isArray(required) ? required : []);
    const entries = Object.entries(value).flatMap(([key, item]): (readonly [string, unknown])[] => {
      const property = Object.hasOwn(declared, key) ? declared[key] : additionalProperties;
      const isDeclared = isRecord(property);
      if (item === null && isDeclared && !requiredKeys.has(key) && !jsonSchemaAcceptsNull(this.#root, property))
        return [];
      return [[key, this.restore(property, item, depth + 1)]];
    });
    return Object.fromEntries(entries); // creates `__proto__` as a key of its own
  }

  #array({ items, prefixItems }: JsonSchema, value: readonly unknown[], depth: number): readonly unknown[] {
    const tuple: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    return value.map((item, index) => this.restore(index < tuple.length ? tuple[index] : items, item, depth + 1));
  }

  /** The branch of a union that a value was written for. Looks one level deep: all of it would cost exponential time. */
  #branchFor(branches: readonly unknown[], value: unknown): unknown {
    const possible = branches.filter((branch) => this.#fits(branch, value, 1));
    if (!isRecord(value)) return possible[0];
    const hasOnlyKnownKeys = (branch: unknown): boolean => {
      const { properties } = this.#resolved(branch);
      return isRecord(properties) && Object.keys(value).every((key) => Object.hasOwn(properties, key));
    };
    return possible.find(hasOnlyKnownKeys) ?? possible[0];
  }

  #resolved(schema: unknown): JsonSchema {
    let target: unknown = schema;
    for (let hops = 0; hops < 16 && isRecord(target) && typeof target['$ref'] === 'string'; hops += 1) {
      target = subschemaAt(this.#root, target['$ref']);
    }
    return isRecord(target) ? target : {};
  }

  #fits(schema: unknown, value: unknown, levels: number): boolean {
    const { type, enum: values, const: only, properties, required } = this.#resolved(schema);
    const types: readonly unknown[] = type === undefined ? [] : [type].flat();
    if (
      types.length > 0 &&
      !types.includes(typeOfValue(value)) &&
      !(types.includes('integer') && Number.isInteger(value))
    )
      return false;
    if (only !== undefined && only !== value) return false;
    if (Array.isArray(values) && !values.includes(value)) return false;
    if (levels === 0 || !isRecord(value)) return true;
    const requiredKeys: readonly unknown[] = Array.isArray(required) ? required : [];
    if (!requiredKeys.every((key) => Object.hasOwn(value, String(key)))) return false;
    return Object.entries(isRecord(properties) ? properties : {}).every(
      ([key, property]) => !requiredKeys.includes(key) || this.#fits(property, value[key], levels - 1),
    );
  }
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
