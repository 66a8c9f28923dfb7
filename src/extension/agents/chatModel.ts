// A module of its own, because it loads the `openai` package, which only questions to a model need. The command line is made of the same
// code, whose imports of `http` do not go through VS Code's proxy, so the extension passes its own `fetch`.
import { LLMClient } from '../../agents/chat/llmClient.ts';
import type { TextMessage } from '../../agents/chat/chatMessages.ts';
import { type Endpoint, requestUrl } from '../../agents/llm/providers.ts';
import { type PromptRunModel, type PromptReply, runPrompt } from '../../flows/run/start/promptRun.ts';

interface Transport {
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
}

/** Sends messages to a model once. Throws like `runPrompt`. */
export function askModel(
  model: Omit<PromptRunModel, 'fetch'>,
  messages: Parameters<typeof runPrompt>[1],
  { signal, fetch }: Transport,
): Promise<PromptReply> {
  return runPrompt({ ...model, fetch }, messages, { signal });
}

/** Sends messages to an endpoint and yields the answer as it arrives. Throws like `LLMClient.chatStream`. */
export function streamChat(
  endpoint: Endpoint,
  messages: readonly TextMessage[],
  { key, signal, fetch }: Transport & { readonly key: string | undefined },
): AsyncIterable<string> {
  const { provider, model } = endpoint;
  const client = new LLMClient({ provider, model, baseUrl: requestUrl(endpoint), apiKey: key, fetch });
  return client.chatStream(messages, { signal });
}
