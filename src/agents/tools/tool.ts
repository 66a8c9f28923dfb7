import { AppError, messageOf } from '../../core/errors.ts';
import { checkOptions, type OptionShape } from '../schema/optionShape.ts';
import { withAbsentKeys } from '../schema/absentKeys.ts';
import { type JsonSchema, jsonSchemaOf } from '../schema/jsonSchema.ts';
import { checkWith, type Schema } from '../schema/standardSchema.ts';
import { schemaForService, TOOL_INPUT, unwrappedValue } from '../schema/strictSchema.ts';

interface ToolContext {
  /** Aborted with the run or the call of `runTools`. */
  readonly signal: AbortSignal;
  /** Identifies the call: the same if it is repeated after a crash, so that a service can recognise it. */
  readonly callId: string;
}

export interface ToolDefinition<I> {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** A schema of zod 4, or of another library that follows Standard Schema. */
  readonly input: Schema<I>;
  /** Whether a call that was interrupted may be repeated. Otherwise it is reported as unknown, because it may have had its effect. */
  readonly idempotent?: boolean;
  /** Its result goes to the model: a text as it is, everything else as JSON. */
  run(input: I, context: ToolContext): unknown;
}

/** Arguments that a tool accepts, ready to run, or what is wrong with them. */
type PreparedCall =
  | { readonly ok: true; readonly input: unknown; run(context: ToolContext): unknown }
  | { readonly ok: false; readonly issues: string };

/** A function that a model can call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly idempotent?: boolean | undefined;
  /** The JSON Schema of its arguments, for the model. */
  parameters(): Promise<JsonSchema>;
  /** Checks the arguments that the model wrote. */
  prepare(args: unknown): Promise<PreparedCall>;
}

const TOOL_OPTIONS: OptionShape = {
  name: 'string',
  description: 'string',
  input: 'schema',
  idempotent: 'boolean',
  run: 'function',
};

const NAME = /^[\w-]{1,64}$/;

/**
 * Defines a function that a model can call.
 *
 * @throws AppError `bad-input` for a name that services do not accept; TypeError for an option of another type, or without `name`, `input`
 * or `run`.
 */
export function tool<I>(definition: ToolDefinition<I>): Tool {
  checkOptions('tool', definition, TOOL_OPTIONS);
  const { name, description, idempotent, input: schema } = definition;
  if (name === undefined) throw new TypeError('The tool needs a name.');
  if (!NAME.test(name)) {
    throw new AppError('bad-input', `The tool name "${name}" is not valid. Use up to 64 letters, digits, "_" and "-".`);
  }
  if (schema === undefined) {
    throw new TypeError(`The tool "${name}" needs the option input, a schema such as z.object({ … }).`);
  }
  if (definition.run === undefined) throw new TypeError(`The tool "${name}" needs run(input, context).`);
  let jsonSchemaPromise: Promise<JsonSchema | undefined> | undefined;
  const writtenSchema = (): Promise<JsonSchema | undefined> => (jsonSchemaPromise ??= jsonSchemaOf(schema));
  return {
    name,
    description,
    idempotent,
    async parameters() {
      const jsonSchema = await writtenSchema();
      if (jsonSchema !== undefined) return parametersOf(jsonSchema).schema;
      const message = `The schema of tool "${name}" cannot be written as JSON Schema, which models need. Use one of zod 4.`;
      throw new AppError('bad-input', message);
    },
    async prepare(args) {
      const checked = await checkWith(schema, inputOf(await writtenSchema(), args));
      if (!checked.ok) return checked;
      const { value } = checked;
      return { ok: true, input: value, run: (context) => definition.run(value, context) };
    },
  };
}

/** Services take only objects: another input is the only key of one. */
function parametersOf(jsonSchema: JsonSchema): { readonly schema: JsonSchema; readonly isWrapped: boolean } {
  const sent = schemaForService(jsonSchema, TOOL_INPUT);
  return sent.isWrapped ? sent : { schema: jsonSchema, isWrapped: false };
}

/** The input as its schema describes it, from the arguments that the model wrote. */
function inputOf(jsonSchema: JsonSchema | undefined, args: unknown): unknown {
  if (jsonSchema === undefined) return args;
  return withAbsentKeys(jsonSchema, parametersOf(jsonSchema).isWrapped ? unwrappedValue(args) : args);
}

/** The text of a tool's result for the model. */
export function resultText(result: unknown): string {
  if (typeof result === 'string') return result;
  try {
    return JSON.stringify(result) ?? 'done';
  } catch (error) {
    throw new AppError('bad-input', `The result cannot be written as JSON: ${messageOf(error)}`, { cause: error });
  }
}
