import type { ChatEndpoint } from './chatEndpoint.ts';
import { bodyForService, withLengthLimit } from './requestBody.ts';
import { type ServiceRules, serviceRules } from './serviceRules.ts';

/** Sends requests as their service takes them, and remembers what it learns from a refusal. */
export class AdaptiveEndpoint {
  readonly #endpoint: Pick<ChatEndpoint, 'complete' | 'stream'>;
  readonly #rules: ServiceRules;
  /** Names of deployments and new models say nothing about what they refuse. */
  #hasCompletionLimit = false;

  constructor(endpoint: Pick<ChatEndpoint, 'complete' | 'stream'>, provider: string) {
    this.#endpoint = endpoint;
    this.#rules = serviceRules(provider);
  }

  /** Throws as the endpoint does. */
  async complete(...[body, options]: Parameters<ChatEndpoint['complete']>): ReturnType<ChatEndpoint['complete']> {
    try {
      return await this.#endpoint.complete(this.#adapted(body), options);
    } catch (error) {
      if (!this.#learnsFrom(error)) throw error;
      return this.#endpoint.complete(this.#adapted(body), options);
    }
  }

  /** Throws as the endpoint does. */
  async *stream(...[body, options, onRetries]: Parameters<ChatEndpoint['stream']>): ReturnType<ChatEndpoint['stream']> {
    let isBegun = false;
    try {
      for await (const chunk of this.#endpoint.stream(this.#adapted(body), options, onRetries)) {
        isBegun = true;
        yield chunk;
      }
    } catch (error) {
      if (isBegun || !this.#learnsFrom(error)) throw error;
      yield* this.#endpoint.stream(this.#adapted(body), options, onRetries);
    }
  }

  #adapted<T extends { readonly model: string }>(body: T): T {
    const sent = bodyForService(body, this.#rules);
    return this.#hasCompletionLimit ? withLengthLimit(sent, 'max_completion_tokens') : sent;
  }

  /** Whether the same request can now be sent in a way that the service takes. */
  #learnsFrom(error: unknown): boolean {
    const message = error instanceof Error ? error.message : '';
    if (this.#hasCompletionLimit || !/'max_tokens' is not supported.*'max_completion_tokens'/.test(message))
      return false;
    this.#hasCompletionLimit = true;
    return true;
  }
}
