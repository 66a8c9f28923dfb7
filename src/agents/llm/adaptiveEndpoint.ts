import type { ChatEndpoint } from './chatEndpoint.ts';
import type { Endpoint, ModelApi } from './providers.ts';
import { bodyForService, withLengthLimit } from './requestBody.ts';
import { responsesBody } from './responses.ts';
import { serviceRules } from './serviceRules.ts';

// https://platform.openai.com/docs/models, models with "Responses" alone.
const RESPONSES_ONLY = /^(?:o\d-pro|gpt-[\d.]+-pro|.*-codex|codex-|.*-deep-research|computer-use)/;
const NEEDS_RESPONSES =
  /only supported in v1\/responses|not accessible via the \/chat\/completions|not a chat model and thus not supported/;
const REFUSES_MAX_TOKENS = /'max_tokens' is not supported.*'max_completion_tokens'/;
const REFUSES_ENCRYPTED = /encrypted content is not supported/i;

/** How requests are sent, as far as only a refusal shows it: names of deployments and new models do not. */
interface Form {
  readonly api: ModelApi;
  readonly hasCompletionLimit: boolean;
  readonly isEncrypted: boolean;
}

/** Sends requests as their service takes them, and remembers what it learns from a refusal. */
export class AdaptiveEndpoint {
  readonly #chat: Pick<ChatEndpoint, 'complete' | 'stream'>;
  readonly #provider: string;
  readonly #isApiChosen: boolean;
  readonly #isCached: boolean;
  #form: Form;

  /** @param options `api` is the one to use; found by the name of the model or from a refusal if absent. */
  constructor(
    chat: Pick<ChatEndpoint, 'complete' | 'stream'>,
    { provider, model }: Endpoint,
    { api, promptCache }: { readonly api: ModelApi | undefined; readonly promptCache: boolean },
  ) {
    this.#chat = chat;
    this.#provider = provider;
    this.#isApiChosen = api !== undefined;
    this.#isCached = promptCache;
    const isOpenAI = provider === 'openai' || provider === 'azure';
    this.#form = {
      api: api ?? (isOpenAI && RESPONSES_ONLY.test(model) ? 'responses' : 'chat'),
      hasCompletionLimit: false,
      isEncrypted: !/^(?:gpt-[34]|chatgpt-)/.test(model),
    };
  }

  /** Throws as the endpoint does. */
  async complete(
    body: Parameters<ChatEndpoint['complete']>[0],
    options: Parameters<ChatEndpoint['complete']>[1],
  ): ReturnType<ChatEndpoint['complete']> {
    for (;;) {
      const form = this.#form;
      try {
        return await this.#chat.complete(this.#chatBody(body, form), options, responsesBodyOf(body, form));
      } catch (error) {
        if (!this.#learnsFrom(error, form)) throw error;
      }
    }
  }

  /** Throws as the endpoint does. */
  async *stream(
    body: Parameters<ChatEndpoint['stream']>[0],
    options: Parameters<ChatEndpoint['stream']>[1],
    onRetries: Parameters<ChatEndpoint['stream']>[2],
  ): ReturnType<ChatEndpoint['stream']> {
    for (;;) {
      const form = this.#form;
      let isBegun = false;
      try {
        const chunks = this.#chat.stream(this.#chatBody(body, form), options, onRetries, responsesBodyOf(body, form));
        for await (const chunk of chunks) {
          isBegun = true;
          yield chunk;
        }
        return;
      } catch (error) {
        if (isBegun || !this.#learnsFrom(error, form)) throw error;
      }
    }
  }

  #chatBody<T extends { readonly model: string }>(body: T, { hasCompletionLimit }: Form): T {
    const sent = bodyForService(body, serviceRules(this.#provider), this.#isCached);
    return hasCompletionLimit ? withLengthLimit(sent, 'max_completion_tokens') : sent;
  }

  /** Whether a request that was sent in a form can now be sent in another. Each thing can be learned once. */
  #learnsFrom(error: unknown, { api, hasCompletionLimit, isEncrypted }: Form): boolean {
    const message = error instanceof Error ? error.message : '';
    const learned: Partial<Form> = {
      ...(api === 'chat' && !this.#isApiChosen && NEEDS_RESPONSES.test(message) && { api: 'responses' }),
      ...(api === 'chat' && !hasCompletionLimit && REFUSES_MAX_TOKENS.test(message) && { hasCompletionLimit: true }),
      ...(api === 'responses' && isEncrypted && REFUSES_ENCRYPTED.test(message) && { isEncrypted: false }),
    };
    this.#form = { ...this.#form, ...learned };
    return Object.keys(learned).length > 0;
  }
}

function responsesBodyOf(body: object, { api, isEncrypted }: Form): object | undefined {
  return api === 'responses' ? responsesBody({ ...body }, isEncrypted) : undefined;
}
