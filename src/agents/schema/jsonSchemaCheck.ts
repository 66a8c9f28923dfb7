import { patternFault, withinSecond } from '../../core/text/patterns.ts';
import { type JsonSchema, isRecord, subschemaAt } from './jsonSchema.ts';

const MAX_DEPTH = 64;
// References make it possible to write a short schema whose check never ends.
const MAX_STEPS = 100_000;

/**
 * Checks plain data against a JSON Schema (draft 2020-12): types, `enum`, `const`, objects, arrays, the limits of numbers and strings,
 * `anyOf`, `oneOf`, `allOf`, `not` and references inside the schema. Other keywords are ignored.
 *
 * @returns a line for each issue; empty if the value matches.
 */
export function jsonSchemaIssues(schema: JsonSchema, value: unknown): readonly string[] {
  // The schema may come from a job or a data set of others.
  const issues = withinSecond(() => new Checker(schema).issues(schema, value, '', 0));
  return issues ?? [issue('', 'cannot be checked: a pattern of its schema takes too long')];
}

type Issues = readonly string[];

class Checker {
  readonly #root: JsonSchema;
  #steps = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  issues(schema: unknown, value: unknown, at: string, depth: number): Issues {
    if (schema === false) return [issue(at, 'must be absent')];
    if (!isRecord(schema)) return [];
    this.#steps += 1;
    if (depth > MAX_DEPTH || this.#steps > MAX_STEPS) return [issue(at, 'is nested too deeply')];
    const target = typeof schema['$ref'] === 'string' ? subschemaAt(this.#root, schema['$ref']) : undefined;
    const part = (inner: unknown): Issues => this.issues(inner, value, at, depth + 1);
    const matches = (inner: unknown): boolean => part(inner).length === 0;
    const { anyOf, oneOf, allOf, not } = schema;
    return [
      ...(target === undefined ? [] : part(target)),
      ...typeIssues(schema, value, at),
      ...textIssues(schema, value, at),
      ...numberIssues(schema, value, at),
      ...this.#objectIssues(schema, value, at, depth),
      ...this.#arrayIssues(schema, value, at, depth),
      ...(Array.isArray(anyOf) && !anyOf.some(matches) ? [issue(at, 'matches none of the allowed forms')] : []),
      ...(Array.isArray(oneOf) && oneOf.filter(matches).length !== 1 ? [issue(at, 'must match exactly one form')] : []),
      ...(Array.isArray(allOf) ? allOf.flatMap(part) : []),
      ...(not !== undefined && matches(not) ? [issue(at, 'is not allowed')] : []),
    ];
  }

  #objectIssues(schema: JsonSchema, value: unknown, at: string, depth: number): Issues {
    if (!isRecord(value)) return [];
    const { properties, required, additionalProperties, propertyNames } = schema;
    const propertySchemas = isRecord(properties) ? properties : {};
    const missing = Array.isArray(required) ? required.filter((key) => !Object.hasOwn(value, String(key))) : [];
    return [
      ...missing.map((key) => issue(`${at}.${String(key)}`, 'is missing')),
      ...Object.entries(value).flatMap(([key, item]) => [
        ...this.issues(
          Object.hasOwn(propertySchemas, key) ? propertySchemas[key] : additionalProperties,
          item,
          `${at}.${key}`,
          depth + 1,
        ),
        ...this.issues(propertyNames, key, `the key ${key}`, depth + 1),
      ]),
    ];
  }

  #arrayIssues(schema: JsonSchema, value: unknown, at: string, depth: number): Issues {
    if (!Array.isArray(value)) return [];
    const { items, prefixItems, minItems, maxItems } = schema;
    const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
    return [
      ...(typeof minItems === 'number' && value.length < minItems
        ? [issue(at, `needs at least ${minItems} items`)]
        : []),
      ...(typeof maxItems === 'number' && value.length > maxItems ? [issue(at, `may have ${maxItems} items`)] : []),
      ...value.flatMap((item, index) =>
        this.issues(index < first.length ? first[index] : items, item, `${at}[${index}]`, depth + 1),
      ),
    ];
  }
}

function typeIssues({ type, enum: values, const: only }: JsonSchema, value: unknown, at: string): Issues {
  const types: readonly unknown[] = type === undefined ? [] : [type].flat();
  const isListed = (list: readonly unknown[]): boolean =>
    list.some((item) => JSON.stringify(item) === JSON.stringify(value));
  return [
    ...(types.length > 0 && !types.some((each) => isOfType(each, value))
      ? [issue(at, `must be ${types.join(' or ')}`)]
      : []),
    ...(Array.isArray(values) && !isListed(values) ? [issue(at, `must be one of ${JSON.stringify(values)}`)] : []),
    ...(only !== undefined && !isListed([only]) ? [issue(at, `must be ${JSON.stringify(only)}`)] : []),
  ];
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function textIssues({ minLength, maxLength, pattern, format }: JsonSchema, value: unknown, at: string): Issues {
  if (typeof value !== 'string') return [];
  const isTooShort = typeof minLength === 'number' && value.length < minLength;
  const isTooLong = typeof maxLength === 'number' && value.length > maxLength;
  return [
    ...(isTooShort ? [issue(at, `needs at least ${minLength} characters`)] : []),
    ...(isTooLong ? [issue(at, `may have ${maxLength} characters`)] : []),
    ...(typeof pattern === 'string' ? patternIssues(pattern, format, value, at) : []),
  ];
}

function patternIssues(pattern: string, format: unknown, value: string, at: string): Issues {
  if (patternFault(pattern) !== undefined) return [issue(at, `cannot be checked: the pattern ${pattern} is broken`)];
  if (new RegExp(pattern, 'u').test(value)) return [];
  return [issue(at, typeof format === 'string' ? `must be a valid ${format}` : `must match ${pattern}`)];
}

function numberIssues(schema: JsonSchema, value: unknown, at: string): Issues {
  if (typeof value !== 'number') return [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return [
    ...(typeof minimum === 'number' && value < minimum ? [issue(at, `must be at least ${minimum}`)] : []),
    ...(typeof maximum === 'number' && value > maximum ? [issue(at, `must be at most ${maximum}`)] : []),
    ...(typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum
      ? [issue(at, `must be above ${exclusiveMinimum}`)]
      : []),
    ...(typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum
      ? [issue(at, `must be below ${exclusiveMaximum}`)]
      : []),
    ...(typeof multipleOf === 'number' && value % multipleOf !== 0
      ? [issue(at, `must be a multiple of ${multipleOf}`)]
      : []),
  ];
}

function issue(at: string, text: string): string {
  return `- ${at.replace(/^\./, '') || 'the value'} ${text}`;
}
