import { fieldOf, numberField } from '../../core/jsonFields.ts';

/** The tokens of a request, each undefined if the service does not report it. */
export interface CountedTokens {
  readonly input: number | undefined;
  /** The part of the input that the service had stored, at a lower price. */
  readonly cachedInput: number | undefined;
  /** With those of reasoning. */
  readonly output: number | undefined;
  readonly reasoning: number | undefined;
}

/** The tokens of a completion's `usage`, as OpenAI, DeepSeek, Moonshot, xAI and Gemini write it. */
export function countedTokens(usage: unknown): CountedTokens {
  const input = numberField(usage, 'prompt_tokens');
  const written = numberField(usage, 'completion_tokens');
  const total = numberField(usage, 'total_tokens');
  return {
    input,
    cachedInput:
      numberField(fieldOf(usage, 'prompt_tokens_details'), 'cached_tokens') ??
      numberField(usage, 'prompt_cache_hit_tokens') ??
      numberField(usage, 'cached_tokens'),
    // Some services count the tokens of reasoning in the total alone.
    output:
      input !== undefined && written !== undefined && total !== undefined ? Math.max(written, total - input) : written,
    reasoning: numberField(fieldOf(usage, 'completion_tokens_details'), 'reasoning_tokens'),
  };
}
