import { type JsonSchema, isRecord, jsonSchemaAcceptsNull, subschemaAt } from './jsonSchema.ts';

const MAX_DEPTH = 64;
const MAX_STEPS = 10_000;
const MAX_HINT = 200;
/** For the input of tools, where services take nearly all of JSON Schema, but only objects at the root. */
export const TOOL_INPUT: SchemaSubset = {
  keywords: new Set(
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems'.split(
      ' ',
    ),
  ),
  formats: new Set('date-time time date duration email hostname ipv4 ipv6 uuid uri'.split(' ')),
  isOpen: true,
  optionalKeys: 'absent',
  maxDepth: MAX_DEPTH,
  maxProperties: 5_000,
  maxEnumValues: 1_000,
};

// The key of a value whose schema is not one of objects, which services require.
const WRAPPER_KEY = 'value';

/** What the wrapper of a value contains; other data as it is. */
export function unwrappedValue(data: unknown): unknown {
  const isWrapper = isRecord(data) && Object.keys(data).every((key) => key === WRAPPER_KEY);
  return isWrapper ? data[WRAPPER_KEY] : data;
}

/** The part of JSON Schema that a service takes for the schema of a reply. */
export interface SchemaSubset {
  /** Keywords that limit a value beyond its type. All others are left to our own check of the reply. */
  readonly keywords: ReadonlySet<string>;
  readonly formats: ReadonlySet<string>;
  /** Whether it takes objects with any keys, tuples, and values of any type. */
  readonly isOpen: boolean;
  /** How optional keys are written: left out of `required`, or required and nullable. */
  readonly optionalKeys: 'absent' | 'nullable';
  readonly maxDepth: number;
  readonly maxProperties: number;
  readonly maxEnumValues: number;
}

/** A schema as it is sent to a service. */
export interface SentSchema {
  readonly schema: JsonSchema;
  /** Whether the service can guarantee it; otherwise it is a description that the model may miss. */
  readonly isStrict: boolean;
  /** Whether the value is the only key of an object. */
  readonly isWrapped: boolean;
}

// Said by other means, of no use to a model, or implied by a type.
const SILENT = new Set(
  '$schema $id $anchor $comment $defs definitions default examples readOnly writeOnly deprecated propertyNames title format pattern'.split(
    ' ',
  ),
);

/**
 * Writes a JSON Schema in the part of the language that a service takes: objects are closed, optional keys are required and nullable, a root
 * that is not an object becomes the only key of one, and `oneOf`, `allOf` and tuples are rewritten. Limits that the service refuses are
 * moved to the description, since the reply is checked against the whole schema anyway.
 */
export function schemaForService(schema: JsonSchema, subset: SchemaSubset): SentSchema {
  return new SchemaWriter(schema, subset).write();
}

class SchemaWriter {
  readonly #root: JsonSchema;
  readonly #subset: SchemaSubset;
  readonly #definitions: Record<string, JsonSchema> = {};
  /** The names of the definitions by what refers to them. */
  readonly #names = new Map<string, string>();
  readonly #isWrapped: boolean;
  #isStrict = true;
  #properties = 0;
  #enumValues = 0;
  #steps = 0;

  constructor(root: JsonSchema, subset: SchemaSubset) {
    this.#root = root;
    this.#subset = subset;
    this.#isWrapped = !this.#isObject(root, 0);
  }

  write(): SentSchema {
    const { maxProperties, maxEnumValues } = this.#subset;
    const written = this.#convert(this.#rootTarget(), this.#isWrapped ? 2 : 1);
    const schema = this.#isWrapped
      ? { type: 'object', properties: { [WRAPPER_KEY]: written }, required: [WRAPPER_KEY], additionalProperties: false }
      : written;
    const isSmall = this.#properties <= maxProperties && this.#enumValues <= maxEnumValues;
    return {
      schema: Object.keys(this.#definitions).length === 0 ? schema : { ...schema, $defs: this.#definitions },
      isStrict: this.#isStrict && isSmall,
      isWrapped: this.#isWrapped,
    };
  }

  /** A root that only refers to a definition is that definition. */
  #rootTarget(): unknown {
    let target: unknown = this.#root;
    for (let hops = 0; hops < MAX_DEPTH && isRecord(target) && typeof target['$ref'] === 'string'; hops += 1) {
      if (!this.#isWrapped) this.#names.set(target['$ref'], '#');
      target = subschemaAt(this.#root, target['$ref']);
    }
    return target;
  }

  #isObject(schema: unknown, depth: number): boolean {
    if (!isRecord(schema) || depth > MAX_DEPTH) return false;
    if (typeof schema['$ref'] === 'string') return this.#isObject(subschemaAt(this.#root, schema['$ref']), depth + 1);
    if (schema['type'] !== undefined) return schema['type'] === 'object';
    const { allOf } = schema;
    return (
      isRecord(schema['properties']) || (Array.isArray(allOf) && allOf.some((part) => this.#isObject(part, depth + 1)))
    );
  }

  #convert(schema: unknown, depth: number): JsonSchema {
    this.#steps += 1;
    if (depth > MAX_DEPTH || this.#steps > MAX_STEPS) return this.#refused();
    if (!isRecord(schema)) return this.#anything(schema === false ? { not: {} } : {});
    const { $ref, allOf, type } = schema;
    if (typeof $ref === 'string') return this.#reference($ref, depth);
    if (Array.isArray(allOf)) {
      const only = this.#onlyReference(schema, allOf);
      if (only !== undefined) return this.#reference(only, depth);
      const merged = this.#merged(schema, allOf, depth);
      return merged === undefined ? this.#refused() : this.#convert(merged, depth + 1);
    }
    const branches = schema['anyOf'] ?? schema['oneOf'];
    if (Array.isArray(branches)) {
      const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
      if (Object.keys(rest).some((key) => key !== 'description' && !SILENT.has(key))) this.#isStrict = false;
      return { ...described(rest, []), anyOf: branches.map((branch) => this.#convert(branch, depth)) };
    }
    if (Array.isArray(type)) return this.#severalTypes(schema, type, depth);
    const known = type ?? typeOf(schema);
    if (known === 'object') return this.#object(schema, depth);
    if (known === 'array') return this.#array(schema, depth);
    return this.#scalar(schema, known);
  }

  /** A value that no keyword of the subset describes. */
  #anything(schema: JsonSchema): JsonSchema {
    if (!this.#subset.isOpen || Object.keys(schema).length > 0) this.#isStrict = false;
    return schema;
  }

  /** What cannot be written: any value, which a strict service does not take. */
  #refused(): JsonSchema {
    this.#isStrict = false;
    return {};
  }

  /** The reference that an intersection only adds remarks to. */
  #onlyReference(schema: JsonSchema, [part, ...others]: readonly unknown[]): string | undefined {
    if (others.length > 0 || !isRecord(part) || typeof part['$ref'] !== 'string') return undefined;
    const hasMore = Object.keys(schema).some((key) => key !== 'allOf' && key !== 'description' && !SILENT.has(key));
    return hasMore ? undefined : part['$ref'];
  }

  #reference(reference: string, depth: number): JsonSchema {
    const known = this.#names.get(reference) ?? (reference === '#' && !this.#isWrapped ? '#' : undefined);
    if (known !== undefined) return { $ref: known === '#' ? '#' : `#/$defs/${known}` };
    const target = subschemaAt(this.#root, reference);
    if (target === undefined) return this.#refused();
    const name = this.#definitionName(reference);
    this.#names.set(reference, name);
    this.#definitions[name] = {}; // its place, before those of the definitions inside it
    this.#definitions[name] = this.#convert(target, depth);
    return { $ref: `#/$defs/${name}` };
  }

  #definitionName(reference: string): string {
    const base = (/[^/]*$/.exec(reference)?.[0] ?? '').replaceAll(/[^\w-]/g, '_').slice(0, 60);
    const name = base === '' || base === '_' ? 'reply' : base;
    return Object.hasOwn(this.#definitions, name) ? `${name}_${this.#names.size}` : name;
  }

  /** The parts of an intersection as one schema; undefined if they are of different kinds. */
  #merged(schema: JsonSchema, allOf: readonly unknown[], depth: number): JsonSchema | undefined {
    const { allOf: _allOf, ...own } = schema;
    const parts = [own, ...allOf].map((part) => this.#resolved(part, depth));
    if (!parts.every(isRecord)) return undefined;
    const meaningful = parts.filter((part) =>
      Object.keys(part).some((key) => !SILENT.has(key) || key === 'pattern' || key === 'format'),
    );
    if (meaningful.some((part) => ['anyOf', 'oneOf', 'allOf'].some((key) => key in part))) {
      return meaningful.length === 1 ? { ...meaningful[0], ...described(own, []) } : undefined;
    }
    const types = new Set(meaningful.map((part) => part['type'] ?? typeOf(part)).filter((type) => type !== undefined));
    if (types.size > 1) return undefined;
    if (!types.has('object')) return Object.fromEntries(parts.toReversed().flatMap((part) => Object.entries(part)));
    const properties: Record<string, unknown> = {};
    for (const [key, value] of parts.flatMap((part) =>
      Object.entries(isRecord(part['properties']) ? part['properties'] : {}),
    )) {
      properties[key] = Object.hasOwn(properties, key) ? { allOf: [properties[key], value] } : value;
    }
    const open = parts.map((part) => part['additionalProperties']).find((rest) => rest !== undefined && rest !== false);
    return {
      ...described(own, []),
      type: 'object',
      properties,
      required: [
        ...new Set(parts.flatMap((part) => (Array.isArray(part['required']) ? (part['required'] as unknown[]) : []))),
      ],
      ...(open !== undefined && { additionalProperties: open }),
    };
  }

  #resolved(schema: unknown, depth: number): unknown {
    if (!isRecord(schema) || typeof schema['$ref'] !== 'string' || depth > MAX_DEPTH) return schema;
    return this.#resolved(subschemaAt(this.#root, schema['$ref']), depth + 1);
  }

  #severalTypes(schema: JsonSchema, types: readonly unknown[], depth: number): JsonSchema {
    if (types.length === 1 || types.includes('object') || types.includes('array')) {
      const { description, ...rest } = schema;
      const anyOf = types.map((type) => this.#convert({ ...rest, type }, depth));
      return anyOf.length === 1
        ? { ...anyOf[0], ...described(schema, []) }
        : { ...(description !== undefined && { description }), anyOf };
    }
    return this.#scalar(schema, types);
  }

  #object(schema: JsonSchema, depth: number): JsonSchema {
    const { propertyNames, additionalProperties: rest } = schema;
    let properties = isRecord(schema['properties']) ? schema['properties'] : undefined;
    const names = isRecord(propertyNames) ? propertyNames['enum'] : undefined;
    if (properties === undefined && Array.isArray(names)) {
      // A record whose keys are known.
      properties = Object.fromEntries(names.map((name) => [String(name), rest ?? {}]));
    } else if (
      isRecord(schema['patternProperties']) ||
      (rest === undefined ? properties === undefined : rest !== false)
    ) {
      return this.#map(schema, properties ?? {}, depth);
    }
    const required = new Set<unknown>(Array.isArray(schema['required']) ? schema['required'] : []);
    const keys = Object.keys(properties ?? {});
    const isNullable = this.#subset.optionalKeys === 'nullable';
    return {
      ...described(schema, this.#lost(schema, OBJECT_KEYWORDS)),
      type: 'object',
      properties: this.#propertiesOf(properties ?? {}, depth, (key, written, original) =>
        isNullable && !required.has(key) ? this.#nullable(written, original) : written,
      ),
      required: isNullable ? keys : keys.filter((key) => required.has(key)),
      additionalProperties: false,
    };
  }

  /** An object with any keys. */
  #map(schema: JsonSchema, properties: JsonSchema, depth: number): JsonSchema {
    if (!this.#subset.isOpen) this.#isStrict = false;
    const { additionalProperties: rest = true, required } = schema;
    return {
      ...described(schema, this.#lost(schema, OBJECT_KEYWORDS)),
      type: 'object',
      ...(Object.keys(properties).length > 0 && {
        properties: this.#propertiesOf(properties, depth, (_key, written) => written),
        ...(Array.isArray(required) && { required }),
      }),
      additionalProperties: isRecord(rest) && Object.keys(rest).length > 0 ? this.#convert(rest, depth + 1) : true,
    };
  }

  #propertiesOf(
    properties: JsonSchema,
    depth: number,
    finish: (key: string, written: JsonSchema, original: unknown) => JsonSchema,
  ): JsonSchema {
    if (depth > this.#subset.maxDepth) this.#isStrict = false;
    return Object.fromEntries(
      Object.entries(properties).map(([key, property]) => {
        this.#properties += 1;
        return [key, finish(key, this.#convert(property, depth + 1), property)];
      }),
    );
  }

  #nullable(written: JsonSchema, original: unknown): JsonSchema {
    if (jsonSchemaAcceptsNull(this.#root, original)) return written;
    const { description, anyOf, ...rest } = written;
    const hint = description === undefined ? {} : { description };
    if (Array.isArray(anyOf)) return { ...hint, anyOf: [...(anyOf as unknown[]), { type: 'null' }] };
    const isPlain =
      typeof rest['type'] === 'string' && rest['type'] !== 'object' && rest['type'] !== 'array' && !('enum' in rest);
    if (isPlain) return { ...hint, ...rest, type: [rest['type'], 'null'] };
    return { ...hint, anyOf: [rest, { type: 'null' }] };
  }

  #array(schema: JsonSchema, depth: number): JsonSchema {
    const { items, prefixItems } = schema;
    const tuple: unknown = prefixItems ?? (Array.isArray(items) ? items : undefined); // before draft 2020-12
    if (!Array.isArray(tuple)) {
      return {
        ...described(schema, this.#lost(schema, ARRAY_KEYWORDS)),
        type: 'array',
        items: this.#convert(items ?? {}, depth),
        ...this.#limits(schema, LIST_LIMITS),
      };
    }
    const rest = prefixItems === undefined ? schema['additionalItems'] : items;
    const isClosed = rest === undefined || rest === false;
    const members = tuple.map((item) => this.#convert(item, depth));
    const sizes = { minItems: schema['minItems'] ?? tuple.length, ...(isClosed && { maxItems: tuple.length }) };
    if (this.#subset.isOpen) {
      const more = isClosed ? {} : { items: this.#convert(rest, depth) };
      return { ...described(schema, []), type: 'array', prefixItems: members, ...more, ...sizes };
    }
    if (!isClosed) members.push(this.#convert(rest, depth));
    const distinct = [...new Map(members.map((member) => [JSON.stringify(member), member])).values()];
    const [only = {}] = distinct;
    return {
      ...described(schema, [`items in this order: ${JSON.stringify(tuple)}`]),
      type: 'array',
      items: distinct.length === 1 ? only : { anyOf: distinct },
      ...this.#limits(sizes, LIST_LIMITS),
    };
  }

  #scalar(schema: JsonSchema, type: unknown): JsonSchema {
    if (type === undefined) return this.#anything(Object.keys(schema).length === 0 ? schema : described(schema, []));
    const { format, pattern } = schema;
    const values = Array.isArray(schema['enum'])
      ? (schema['enum'] as unknown[])
      : 'const' in schema
        ? [schema['const']]
        : undefined;
    this.#enumValues += values?.length ?? 0;
    const hasFormat = typeof format === 'string' && this.#subset.formats.has(format);
    const hasPattern =
      typeof pattern === 'string' && !hasFormat && this.#subset.keywords.has('pattern') && isSimple(pattern);
    const lost = this.#lost(schema, SCALAR_KEYWORDS);
    if (!hasFormat && typeof format === 'string') lost.push(`format: ${format}`);
    else if (!hasFormat && !hasPattern && typeof pattern === 'string') lost.push(`pattern: ${pattern}`);
    return {
      ...described(schema, lost),
      type,
      ...(values !== undefined && { enum: values }),
      ...(hasFormat && { format }),
      ...(hasPattern && { pattern }),
      ...this.#limits(schema, VALUE_LIMITS),
    };
  }

  /** The limits that the service takes. */
  #limits(schema: JsonSchema, keywords: readonly string[]): JsonSchema {
    return Object.fromEntries(
      keywords.filter((key) => this.#subset.keywords.has(key) && isLimit(schema[key])).map((key) => [key, schema[key]]),
    );
  }

  /** The limits that the service does not take, for the description. */
  #lost(schema: JsonSchema, handled: ReadonlySet<string>): string[] {
    return Object.entries(schema)
      .filter(
        ([key, value]) => !handled.has(key) && !SILENT.has(key) && !(this.#subset.keywords.has(key) || !isLimit(value)),
      )
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  }
}

const VALUE_LIMITS = 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength'.split(' ');
const LIST_LIMITS = ['minItems', 'maxItems', 'uniqueItems'];
const COMMON = ['type', 'description', 'enum', 'const'];
const SCALAR_KEYWORDS = new Set(COMMON);
const OBJECT_KEYWORDS = new Set([...COMMON, 'properties', 'required', 'additionalProperties']);
const ARRAY_KEYWORDS = new Set([...COMMON, 'items', 'prefixItems', 'additionalItems']);

/** Libraries write the range of safe integers for every whole number. */
function isLimit(value: unknown): boolean {
  return value !== undefined && !(typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER);
}

/** Whether all engines understand a pattern: no groups with a question mark but `(?:`, no back references, no classes of characters by name. */
function isSimple(pattern: string): boolean {
  return !/\(\?(?!:)|\\[1-9kpPbB]/.test(pattern);
}

function described({ description }: JsonSchema, hints: readonly string[]): { readonly description?: string } {
  const text = typeof description === 'string' ? description : '';
  const hint = hints.filter((each) => each.length <= MAX_HINT).join('; ');
  const whole = hint === '' ? text : `${text} (${hint})`.trim();
  return whole === '' ? {} : { description: whole };
}

/** The type of a schema that does not name it. */
function typeOf(schema: JsonSchema): unknown {
  if ('properties' in schema || 'additionalProperties' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values)) return 'pattern' in schema || 'format' in schema ? 'string' : undefined;
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  return types.length === 1 ? types[0] : types;
}
