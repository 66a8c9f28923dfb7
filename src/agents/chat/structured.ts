import { parseJson } from '../../core/jsonFields.ts';
import type { ServiceRules } from '../llm/serviceRules.ts';
import { withAbsentKeys } from '../schema/absentKeys.ts';
import { type JsonSchema, jsonSchemaOf } from '../schema/jsonSchema.ts';
import { partialJson } from '../schema/partialJson.ts';
import { type Checked, checkWith, type Schema } from '../schema/standardSchema.ts';
import { schemaForService, unwrappedValue } from '../schema/strictSchema.ts';

// A longer reply is read again only after it has grown by a part of its length.
const SHORT_REPLY = 8_000;
const PARTS = 16;
const THINK_END = '</think>';

/** A reply that follows a schema: what a request says of it, and how its text is read. */
export class StructuredReply {
  readonly #schema: Schema;
  readonly #jsonSchema: JsonSchema | undefined;
  readonly #isWrapped: boolean;
  /** The fields of the request. */
  readonly fields: { readonly response_format?: object };
  /** What the prompt says where the request cannot. */
  readonly instruction: string | undefined;

  private constructor(
    schema: Schema,
    jsonSchema: JsonSchema | undefined,
    mode: ServiceRules['replySchema'],
    rules: ServiceRules,
  ) {
    this.#schema = schema;
    this.#jsonSchema = jsonSchema;
    if (mode === 'prompt' || jsonSchema === undefined) {
      this.#isWrapped = false;
      this.fields = {};
      this.instruction = schemaInstruction(jsonSchema);
      return;
    }
    const sent = schemaForService(jsonSchema, rules.subset);
    this.#isWrapped = sent.isWrapped;
    if (mode === 'json_object') {
      this.fields = { response_format: { type: 'json_object' } };
      this.instruction = schemaInstruction(sent.schema);
    } else {
      const format = { name: 'reply', schema: sent.schema, strict: sent.isStrict };
      this.fields = { response_format: { type: 'json_schema', json_schema: format } };
    }
  }

  /** @throws AppError `bad-input` if the schema cannot be written as JSON Schema. */
  static async of(
    schema: Schema,
    {
      rules,
      model,
      isStreamed,
    }: { readonly rules: ServiceRules; readonly model: string; readonly isStreamed: boolean },
  ): Promise<StructuredReply> {
    const jsonSchema = await jsonSchemaOf(schema);
    const isRefused = rules.promptOnly?.test(model) === true || (isStreamed && rules.streamsSchema === false);
    return new StructuredReply(schema, jsonSchema, isRefused ? 'prompt' : rules.replySchema, rules);
  }

  /** Whether the model gets the schema. */
  get isSeen(): boolean {
    return this.#jsonSchema !== undefined;
  }

  /** Reads the value: bare JSON, in a code fence, or with reasoning or sentences around it. */
  async parse(reply: string): Promise<Checked<unknown>> {
    const read = readJson(reply);
    if (!read.ok) return read;
    const checked = await checkWith(this.#schema, this.#restored(read.value));
    if (checked.ok || !this.#isWrapped) return checked;
    const bare = await checkWith(this.#schema, this.#withAbsentKeys(read.value)); // a model may leave out the wrapper
    return bare.ok ? bare : checked;
  }

  /** The values of a reply that is still arriving, each time that more of it has. */
  partials(): (reply: string) => readonly unknown[] {
    let read = 0;
    let last = '';
    return (reply) => {
      // Reading all of a long reply for each token would cost the square of its length.
      if (reply.length > SHORT_REPLY && reply.length - read < reply.length / PARTS) return [];
      read = reply.length;
      const value = this.#restored(partialJson(openJsonText(reply)));
      const json = value === undefined ? '' : JSON.stringify(value);
      if (json === last) return [];
      last = json;
      return [value];
    };
  }

  #restored(data: unknown): unknown {
    return this.#withAbsentKeys(this.#isWrapped ? unwrappedValue(data) : data);
  }

  #withAbsentKeys(data: unknown): unknown {
    return this.#jsonSchema === undefined ? data : withAbsentKeys(this.#jsonSchema, data);
  }
}

/** Reads JSON from a reply and checks it. */
export async function parseReply<T>(schema: Schema<T>, reply: string): Promise<Checked<T>> {
  const read = readJson(reply);
  return read.ok ? checkWith(schema, read.value) : read;
}

function readJson(reply: string): Checked<unknown> {
  try {
    return { ok: true, value: parseJson(jsonText(reply)) };
  } catch (error) {
    return { ok: false, issues: `It is not JSON: ${String(error)}` };
  }
}

/** The prompt for services whose requests cannot contain the schema, and for schemas that can only be checked. */
function schemaInstruction(schema: JsonSchema | undefined): string {
  if (schema === undefined) return 'Reply with one JSON value, and nothing else.';
  return `Reply with one JSON value that matches this JSON schema, and nothing else:\n${JSON.stringify(schema)}`;
}

/** The prompt to correct a reply. */
export function repairRequest(issues: string): string {
  return `That reply does not match the JSON schema:\n${issues}\nReply again with the corrected JSON value, and nothing else.`;
}

function jsonText(reply: string): string {
  const answer = afterReasoning(reply);
  const fenced = /```[a-zA-Z]*[ \t]*\r?\n([\s\S]*?)```/.exec(answer)?.[1];
  const text = (fenced ?? answer).trim();
  if (fenced !== undefined || /^[[{"\d-]|^(?:true|false|null)$/.test(text)) return text;
  const [from, to] = [text.search(/[[{]/), Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))];
  return from >= 0 && to > from ? text.slice(from, to + 1) : text;
}

/** The JSON of a reply that is still arriving. */
function openJsonText(reply: string): string {
  const isReasoning = reply.trimStart().startsWith('<think>') && !reply.includes(THINK_END);
  const answer = isReasoning ? '' : afterReasoning(reply);
  const fence = /```[a-zA-Z]*[ \t]*\r?\n/.exec(answer);
  const text = fence === null ? answer : answer.slice(fence.index + fence[0].length);
  const start = text.search(/[[{]/);
  return start < 0 ? '' : text.slice(start);
}

/** Some models write their reasoning into the reply; templates may have written its opening tag already. */
function afterReasoning(reply: string): string {
  if (/^\s*[[{"]/.test(reply)) return reply; // the tag would be a part of the value
  const end = reply.indexOf(THINK_END);
  return end < 0 ? reply : reply.slice(end + THINK_END.length);
}
