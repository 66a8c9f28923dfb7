import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';
import { fieldOf, textField } from '../../core/jsonFields.ts';

/** A part of a streamed reply, as far as the client reads it. */
export interface CompletionChunk {
  readonly choices: readonly {
    /** A piece of the message. */
    readonly delta: Readonly<Record<string, unknown>>;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: ChatCompletion['usage'] | null | undefined;
}

/** Whether a value has the shape of a completion, as far as the client reads it. */
export function isCompletion(value: unknown): value is ChatCompletion {
  if (typeof value !== 'object' || value === null || !('choices' in value) || !Array.isArray(value.choices))
    return false;
  return value.choices.every((choice: unknown) => {
    const message: unknown =
      typeof choice === 'object' && choice !== null && 'message' in choice ? choice.message : undefined;
    return typeof message === 'object' && message !== null;
  });
}

/** The body of a request. Messages are passed on unchecked: the service reports those that it does not accept. */
export function completionBody(
  model: string,
  messages: readonly object[],
  extra: { readonly stream: true; readonly stream_options: object },
): ChatCompletionCreateParamsStreaming;
export function completionBody(
  model: string,
  messages: readonly object[],
  extra: object,
): ChatCompletionCreateParamsNonStreaming;
export function completionBody(model: string, messages: readonly object[], extra: object): object {
  return { ...extra, model, messages: [...messages] };
}

/** A response body as JSON: the package returns a text if the service does not say that it is JSON. */
export function parsedBody<T>(body: T): T;
export function parsedBody(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}

/** The text of a message's content. Some services write it as a list of parts, of which only some are text. */
export function replyText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (typeof part === 'object' && part !== null && 'text' in part ? part.text : ''))
    .filter((text) => typeof text === 'string')
    .join('');
}

/**
 * The calls of functions in a message. Services differ: without calls some write null, some leave out `type`, and some write the arguments as
 * an object.
 */
export function toolCallsOf(
  calls: unknown,
): { readonly id: string; readonly name: string; readonly arguments: string }[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call: unknown) => {
    const called = fieldOf(call, 'function');
    const name = textField(called, 'name');
    if (name === undefined) return [];
    const args = fieldOf(called, 'arguments') ?? '';
    return [
      { id: textField(call, 'id') ?? '', name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    ];
  });
}
