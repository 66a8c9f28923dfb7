/** A part of a message: text or an image. Other parts that the service takes are sent unchanged too. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  /** `url` is an address or a `data:` URL. */
  | {
      readonly type: 'image_url';
      readonly image_url: { readonly url: string; readonly detail?: 'auto' | 'low' | 'high' };
    }
  | { readonly type: 'input_audio' | 'file'; readonly [field: string]: unknown };

/** A message of the chat completions API. Every field is sent unchanged. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string | null | readonly ContentPart[];
  readonly name?: string;
  /** Of an assistant that called tools, and of the `tool` message that answers one of its calls. */
  readonly tool_calls?: readonly unknown[];
  readonly tool_call_id?: string;
}

/** A message without images. */
export type TextMessage = ChatMessage & { readonly content: string | null };

/** Fields of the request body, sent unchanged: `temperature`, `max_tokens`, `seed`, `stop`, `reasoning_effort`, ... */
export type ModelParams = Readonly<Record<string, unknown>>;

export interface AskOptions {
  /** How often a request is retried after status 429; 3 if absent. */
  readonly retries?: number | undefined;
  /** Aborts the request. Inside a hook, the signal of the run does so too. */
  readonly signal?: AbortSignal | undefined;
  /** The time limit of a whole reply in seconds, or of each silence of a streamed one; 600 if absent. */
  readonly timeout?: number | undefined;
  /** Overrides the client's `params`, field by field. */
  readonly params?: ModelParams | undefined;
}

export interface ToolOptions extends AskOptions {
  /** As chat completions take them. */
  readonly tools?: readonly Record<string, unknown>[] | undefined;
  readonly toolChoice?: unknown;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as written by the model. Check it before use. */
  readonly arguments: string;
}

/** Tokens of one or more requests, and their cost in US dollars by list price; each is absent if unknown. */
export interface Usage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cost?: number | undefined;
}

export interface ChatReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /** `stop`, `length`, `tool_calls` or another reason of the service. */
  readonly finishReason: string;
  readonly usage: Usage;
  /** The reply as the next message of the conversation. */
  readonly message: ChatMessage;
}
