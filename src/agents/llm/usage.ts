import { fieldOf, numberField } from '../../core/jsonFields.ts';

/** The tokens of a request, each undefined if the service does not report it. */
export interface CountedTokens {
  readonly input: number | undefined;
  /** The part of the input that the service had stored, at a lower price. */
  readonly cachedInput: number | undefined;
  /** The part of the input that the service stored for later requests. */
  readonly cacheWrite?: number | undefined;
  readonly audioInput?: number | undefined;
  readonly audioOutput?: number | undefined;
  /** With those of reasoning. */
  readonly output: number | undefined;
  readonly reasoning: number | undefined;
}

/** The tokens of a completion's `usage`, as OpenAI, DeepSeek, Moonshot, xAI, Gemini and OpenRouter write it. */
export function countedTokens(usage: unknown): CountedTokens {
  const input = numberField(usage, 'prompt_tokens');
  const written = numberField(usage, 'completion_tokens');
  const total = numberField(usage, 'total_tokens');
  const inputDetails = fieldOf(usage, 'prompt_tokens_details');
  const outputDetails = fieldOf(usage, 'completion_tokens_details');
  return {
    input,
    cachedInput:
      numberField(inputDetails, 'cached_tokens') ??
      numberField(usage, 'prompt_cache_hit_tokens') ??
      numberField(usage, 'cached_tokens') ??
      numberField(usage, 'cache_read_input_tokens'),
    // Of OpenRouter, and of Anthropic's style. A zero says nothing.
    cacheWrite:
      numberField(inputDetails, 'cache_write_tokens') || numberField(usage, 'cache_creation_input_tokens') || undefined,
    audioInput: numberField(inputDetails, 'audio_tokens') || undefined,
    audioOutput: numberField(outputDetails, 'audio_tokens') || undefined,
    // Some services count the tokens of reasoning in the total alone.
    output:
      input !== undefined && written !== undefined && total !== undefined ? Math.max(written, total - input) : written,
    reasoning: numberField(outputDetails, 'reasoning_tokens'),
  };
}
