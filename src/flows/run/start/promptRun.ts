import { LLMClient, type LLMClientOptions } from '../../../agents/chat/llmClient.ts';
import { Node } from '../../../agents/graph/node.ts';
import type { ModelCall } from '../../../agents/records/trace.ts';

/** Where a prompt is tried. */
export type PromptRunModel = Pick<
  LLMClientOptions,
  'provider' | 'model' | 'baseUrl' | 'apiKey' | 'apiKeyEnv' | 'fetch'
>;

export interface PromptReply {
  readonly reply: string;
  /** Tokens, cost and time; absent if the service does not report them. */
  readonly call: ModelCall | undefined;
}

type Messages = readonly { readonly role: string; readonly content: string }[];

/**
 * Sends messages to a model once, outside any flow, to try a prompt or another model.
 *
 * @throws what `LLMClient.chatComplete` throws.
 */
export async function runPrompt(
  model: PromptRunModel,
  messages: Messages,
  { signal }: { readonly signal: AbortSignal },
): Promise<PromptReply> {
  const client = new LLMClient(model);
  const shared = { reply: '' };
  let call: ModelCall | undefined;
  // Runs as a single node, because the trace of a run has the counts.
  class Ask extends Node<typeof shared, Messages, string> {
    override prep(): Messages {
      return messages;
    }
    override exec(conversation: Messages): Promise<string> {
      return client.chatComplete(conversation, { signal });
    }
    override post(state: typeof shared, _asked: Messages, reply: string): void {
      state.reply = reply;
    }
  }
  await new Ask().run(shared, {
    signal,
    onEvent(event) {
      if (event.type === 'model') call = event;
    },
  });
  return { reply: shared.reply, call };
}
