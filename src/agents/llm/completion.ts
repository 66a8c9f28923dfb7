import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';

/** A part of a streamed reply, as far as the client reads it. */
export interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null | undefined };
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
