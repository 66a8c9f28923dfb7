import { AppError, messageOf } from '../../core/errors.ts';
import { jsonSchemaOf } from '../schema/jsonSchema.ts';
import { checkWith, type Checked, type Schema } from '../schema/standardSchema.ts';
import type { Checkpoint } from '../records/recordSchemas.ts';
import { schemaOfFile, withDefaults } from './answerSchema.ts';
import type { PausedCall, PauseRequest } from './pause.ts';

/** The schemas of checkpoints that were made in this process; a checkpoint itself has only their JSON Schema. */
const liveSchemas = new WeakMap<object, Schema>();

/** A checkpoint of a node that waits. */
export async function pausedCheckpoint(
  checkpoint: Checkpoint,
  { question, choices, input, call }: PauseRequest & PausedCall,
): Promise<Checkpoint> {
  const schema = input === undefined ? undefined : await jsonSchemaOf(input);
  const paused = {
    ...checkpoint,
    pause: {
      question,
      ...(choices !== undefined && { choices: [...choices] }),
      ...(schema !== undefined && { input: structuredClone(schema) }),
      ...(call !== undefined && { call }),
    },
  };
  if (input !== undefined) liveSchemas.set(paused, input);
  return paused;
}

/**
 * Checks the options with which a run resumes.
 *
 * @returns the checkpoint, and the input after the defaults and transforms of its schema.
 * @throws AppError `bad-input` if it is not a checkpoint of this version, an answer is missing, or the answer is not allowed.
 */
export async function checkResumption(
  resume: unknown,
  input: unknown,
): Promise<{ readonly resume: Checkpoint; readonly input: unknown }> {
  if (resume === undefined) {
    throw new AppError('bad-input', 'The option input is the answer to a checkpoint, so it needs the option resume.');
  }
  const { checkpointSchema } = await import('../records/recordSchemas.ts');
  const parsed = checkpointSchema.safeParse(resume);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const what = issue === undefined ? '' : ` (${issue.path.join('.') || 'the checkpoint'}: ${issue.message})`;
    const message = `The option resume is not a checkpoint of this version${what}. Start the run from its beginning.`;
    throw new AppError('bad-input', message, { cause: parsed.error });
  }
  const checkpoint = parsed.data;
  const { pause } = checkpoint;
  if (pause === undefined) {
    if (input === undefined) return { resume: checkpoint, input };
    throw new AppError(
      'bad-input',
      `The checkpoint after ${checkpoint.path} waits for no answer, so it takes no input.`,
    );
  }
  if (input === undefined) {
    const message = `The run waits for an answer at ${checkpoint.path}: ${pause.question} Pass the answer as input.`;
    throw new AppError('bad-input', message);
  }
  if (pause.choices !== undefined && !pause.choices.some((choice) => choice === input)) {
    const choices = pause.choices.map((choice) => `"${choice}"`).join(', ');
    throw new AppError('bad-input', `The answer ${shown(input)} is not one of ${choices}.`);
  }
  const checked = await check(resume, pause.input, input);
  if (checked.ok) return { resume: checkpoint, input: checked.value };
  throw new AppError(
    'bad-input',
    `The answer ${shown(input)} does not match what the run waits for:\n${checked.issues}`,
  );
}

/** Checks an answer with the schema itself, where this process has it, or else with its JSON Schema. */
async function check(
  resume: unknown,
  schema: Readonly<Record<string, unknown>> | undefined,
  input: unknown,
): Promise<Checked<unknown>> {
  const own = typeof resume === 'object' && resume !== null ? liveSchemas.get(resume) : undefined;
  const live = own ?? (schema && (await schemaOfFile(schema)));
  if (live !== undefined) return checkWith(live, input);
  if (schema === undefined) return { ok: true, value: input };
  const { jsonSchemaIssues } = await import('../schema/jsonSchemaCheck.ts');
  const issues = jsonSchemaIssues(schema, input);
  return issues.length === 0
    ? { ok: true, value: withDefaults(schema, input) }
    : { ok: false, issues: issues.join('\n') };
}

function shown(input: unknown): string {
  try {
    return (JSON.stringify(input) ?? String(input)).slice(0, 200);
  } catch (error) {
    return `(${messageOf(error)})`;
  }
}
