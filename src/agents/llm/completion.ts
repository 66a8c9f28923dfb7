import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';

/** A part of a streamed reply, as far as the client reads it. */
export interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null | undefined; readonly refusal?: string | null | undefined };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: ChatCompletionChunk['usage'] | undefined;
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
