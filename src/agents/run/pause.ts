import { checkOptions } from '../schema/optionShape.ts';
import type { Checkpoint } from '../records/recordSchemas.ts';
import { type Json, writtenJson } from '../records/plainJson.ts';
import type { Schema } from '../schema/standardSchema.ts';

export interface PauseRequest {
  readonly question: string;
  /** The allowed answers. Any text, or any value of `input`, if absent. */
  readonly choices?: readonly string[] | undefined;
  /** What the answer must match: a schema of zod 4, or another library that follows Standard Schema. */
  readonly input?: Schema | undefined;
}

// Of the arguments of a call, in a question; the checkpoint has all of them.
const MAX_SHOWN = 1_000;

// In the symbol registry, because a file may bring its own copy of this library.
const PAUSE: unique symbol = Symbol.for('farwharf.pause.1');

/** What `post` returns in place of an action to wait for a person. */
export interface Pause extends PauseRequest {
  readonly [PAUSE]: true;
}

/**
 * Ends the run until a person has answered: returned by `post` in place of an action. `run` rejects with PausedError; a later run
 * with its checkpoint and an `input` calls the node's `answer`.
 */
export function pause(request: PauseRequest): Pause {
  checkOptions('pause', request, { question: 'string', choices: 'any', input: 'schema' });
  const { question, choices, input } = request;
  if (typeof question !== 'string' || question === '') {
    throw new TypeError('pause needs a question: pause({ question: "Publish it?" }).');
  }
  if (choices !== undefined && !(Array.isArray(choices) && choices.every((choice) => typeof choice === 'string'))) {
    throw new TypeError('The option choices of pause must be an array of strings.');
  }
  if (choices?.length === 0) {
    throw new TypeError(
      'The option choices of pause is empty, so no answer would be allowed. Leave it out for any text.',
    );
  }
  return { question, choices, input, [PAUSE]: true };
}

/** The call of a tool that waits for an answer. */
export interface PausedCall {
  readonly call?: { readonly name: string; readonly input: Json } | undefined;
}

/** The question of a call that waits: what `approve` asked, with the tool and its arguments. */
export function callQuestion(
  { question, choices, input: schema }: PauseRequest,
  { name, input }: { readonly name: string; readonly input: unknown },
): PauseRequest & PausedCall {
  const text = JSON.stringify(input) ?? '';
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text;
  return {
    question: `${question} ${name} ${shown}`,
    choices,
    input: schema,
    call: { name, input: writtenJson(input) },
  };
}

export function isPause(value: unknown): value is Pause {
  return typeof value === 'object' && value !== null && PAUSE in value;
}

/** The run waits for a person. Run it again with `{ resume: checkpoint, input }`; the checkpoint is plain JSON. */
export class PausedError extends Error {
  override readonly name = 'PausedError';
  readonly question: string;
  readonly choices?: readonly string[];
  readonly checkpoint: Checkpoint;
  /** The name of the node in its flow. */
  readonly node: string;

  constructor(node: string, checkpoint: Checkpoint, { question, choices }: PauseRequest) {
    super(`The run waits for an answer at "${node}": ${question}`);
    this.question = question;
    if (choices !== undefined) this.choices = choices;
    this.checkpoint = checkpoint;
    this.node = node;
  }
}

/** Whether a run ended with this error because it waits; also if the error comes from another copy of this library. */
export function isPaused(error: unknown): error is PausedError {
  return error instanceof Error && error.name === 'PausedError' && 'checkpoint' in error && 'question' in error;
}
