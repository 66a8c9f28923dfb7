// A separate chunk, because it loads the `openai` package, which only questions to a model need.
export { runPrompt } from '../../flows/run/models/promptRun.ts';
import { LLMClient } from '../../agents/chat/llmClient.ts';
import type { TextMessage } from '../../agents/chat/messages.ts';
import { requestUrl } from '../../agents/llm/endpointRequest.ts';
import type { Endpoint } from '../../agents/llm/providers.ts';

/** Sends messages to an endpoint and yields the answer as it arrives. Throws like `LLMClient.chatStream`. */
export function streamChat(
  endpoint: Endpoint,
  messages: readonly TextMessage[],
  { key, signal }: { readonly key: string | undefined; readonly signal: AbortSignal },
): AsyncIterable<string> {
  const { provider, model } = endpoint;
  const client = new LLMClient({ provider, model, baseUrl: requestUrl(endpoint), apiKey: key });
  return client.chatStream(messages, { signal });
}
