import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';

/** The issues of a reply that does not match its schema, or the value of one that does. */
export type ParsedReply<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: string };

/**
 * The JSON schema of the reply.
 *
 * @throws AppError `bad-input` if it is not a zod schema, or cannot be written as JSON Schema.
 */
export async function jsonSchemaOf(schema: z.ZodType): Promise<Record<string, unknown>> {
  const isSchema = typeof schema === 'object' && schema !== null && '_zod' in schema && 'safeParseAsync' in schema;
  if (!isSchema) throw new AppError('bad-input', 'The option "schema" must be a zod schema (zod 4).');
  const { toJSONSchema } = await import('./jsonSchema.ts');
  try {
    return toJSONSchema(schema, { io: 'input' });
  } catch (error) {
    throw new AppError('bad-input', `The schema cannot be written as JSON Schema: ${String(error)}`, { cause: error });
  }
}

/** The `response_format` of a request. `strict` only if the schema meets its rules: every key required, no others allowed. */
export function responseFormat(schema: Record<string, unknown>): {
  type: 'json_schema';
  json_schema: { name: string; schema: Record<string, unknown>; strict: boolean };
} {
  return { type: 'json_schema', json_schema: { name: 'reply', schema, strict: isStrict(schema) } };
}

/** The prompt with the schema, for services whose requests cannot contain it. */
export function schemaInstruction(schema: Record<string, unknown>): string {
  return `Reply with one JSON value that matches this JSON schema, and nothing else:\n${JSON.stringify(schema)}`;
}

/** The prompt to correct a reply. */
export function repairRequest(issues: string): string {
  return `That reply does not match the JSON schema:\n${issues}\nReply again with the corrected JSON value, and nothing else.`;
}

/** Reads JSON from a reply: bare, in a code fence, or with sentences around it. */
export async function parseReply<T extends z.ZodType>(schema: T, reply: string): Promise<ParsedReply<z.infer<T>>> {
  let data: unknown;
  try {
    data = JSON.parse(jsonText(reply));
  } catch (error) {
    return { ok: false, issues: `It is not JSON: ${String(error)}` };
  }
  const result = await schema.safeParseAsync(data);
  if (result.success) return { ok: true, value: result.data };
  const issues = result.error.issues.map(({ path, message }) => `- ${path.join('.') || 'the value'}: ${message}`);
  return { ok: false, issues: issues.join('\n') };
}

function jsonText(reply: string): string {
  const fenced = /```[a-zA-Z]*[ \t]*\r?\n([\s\S]*?)```/.exec(reply)?.[1];
  const text = (fenced ?? reply).trim();
  if (fenced !== undefined || /^[[{"\d-]|^(?:true|false|null)$/.test(text)) return text;
  const [from, to] = [text.search(/[[{]/), Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))];
  return from >= 0 && to > from ? text.slice(from, to + 1) : text;
}

function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  if ('type' in schema && schema.type === 'object') {
    const properties = 'properties' in schema ? Object.keys(schema.properties ?? {}) : [];
    const required = 'required' in schema && Array.isArray(schema.required) ? schema.required : [];
    const isClosed = 'additionalProperties' in schema && schema.additionalProperties === false;
    if (!isClosed || properties.length !== required.length) return false;
  }
  return Object.values(schema).every(isStrict);
}
