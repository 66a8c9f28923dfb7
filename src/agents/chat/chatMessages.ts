import type { TokenCounts } from '../records/trace.ts';

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
  /** The reasoning of an assistant, as its service wrote it. It is sent back to services that take it. */
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_details?: unknown;
  readonly thinking_blocks?: unknown;
  readonly response_items?: unknown;
}

/** A message without images. */
export type TextMessage = ChatMessage & { readonly content: string | null };

/** Fields of the request body, sent unchanged: `temperature`, `max_tokens`, `seed`, `stop`, `reasoning_effort`, ... */
export type ModelParams = Readonly<Record<string, unknown>>;

export interface AskOptions {
  /** How often a request is sent again after status 408, 409, 429 or 5xx, or a lost connection, until the first token; 3 if absent. */
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
export interface Usage extends TokenCounts {
  readonly cost?: number | undefined;
}

export interface ChatReply {
  readonly content: string;
  /** What the model showed of its reasoning. */
  readonly reasoning?: string | undefined;
  readonly toolCalls: readonly ToolCall[];
  /** `stop`, `length`, `tool_calls` or another reason of the service. */
  readonly finishReason: string;
  readonly usage: Usage;
  /** The model that answered: another than the client's after a `fallback`. */
  readonly provider: string;
  readonly model: string;
  /** The reply as the next message of the conversation. */
  readonly message: ChatMessage;
}

/** A piece of a streamed reply, or of the reasoning before it. */
export interface ReplyPiece {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}
