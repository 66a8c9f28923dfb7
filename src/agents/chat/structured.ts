import type { JsonSchema } from '../schema/jsonSchema.ts';
import { type Checked, checkWith, type Schema } from '../schema/standardSchema.ts';
import { parseJson } from '../../core/jsonFields.ts';

/** The `response_format` of a request. `strict` only if the schema meets its rules: every key required, no others allowed. */
export function responseFormat(schema: JsonSchema): {
  type: 'json_schema';
  json_schema: { name: string; schema: JsonSchema; strict: boolean };
} {
  return { type: 'json_schema', json_schema: { name: 'reply', schema, strict: isStrict(schema) } };
}

/** The prompt for services whose requests cannot contain the schema, and for schemas that can only be checked. */
export function schemaInstruction(schema: JsonSchema | undefined): string {
  if (schema === undefined) return 'Reply with one JSON value, and nothing else.';
  return `Reply with one JSON value that matches this JSON schema, and nothing else:\n${JSON.stringify(schema)}`;
}

/** The prompt to correct a reply. */
export function repairRequest(issues: string): string {
  return `That reply does not match the JSON schema:\n${issues}\nReply again with the corrected JSON value, and nothing else.`;
}

/** Reads JSON from a reply: bare, in a code fence, or with sentences around it. */
export async function parseReply<T>(schema: Schema<T>, reply: string): Promise<Checked<T>> {
  let data: unknown;
  try {
    data = parseJson(jsonText(reply));
  } catch (error) {
    return { ok: false, issues: `It is not JSON: ${String(error)}` };
  }
  return checkWith(schema, data);
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
