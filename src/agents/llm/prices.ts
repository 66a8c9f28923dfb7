/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

// List prices of the providers' public price pages, without discounts for cached or batched tokens. The longest prefix wins.
const PRICES: Readonly<Record<string, Price>> = {
  'gpt-4o': { input: 2.5, output: 10 },
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  'gpt-4.1': { input: 2, output: 8 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4 },
  'gpt-5': { input: 1.25, output: 10 },
  'gpt-5-mini': { input: 0.25, output: 2 },
  'gpt-5-nano': { input: 0.05, output: 0.4 },
  'claude-opus-4-5': { input: 5, output: 25 },
  'claude-sonnet-4': { input: 3, output: 15 },
  'claude-haiku-4-5': { input: 1, output: 5 },
  'gemini-2.5-pro': { input: 1.25, output: 10 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4 },
  'grok-4': { input: 3, output: 15 },
};

/** What a call cost by list price, in US dollars; undefined for a model without a known price. */
export function estimateCost(
  model: string,
  tokens: { readonly input: number; readonly output: number },
  price = priceOf(model),
): number | undefined {
  return price === undefined ? undefined : (tokens.input * price.input + tokens.output * price.output) / 1_000_000;
}

function priceOf(model: string): Price | undefined {
  const prefixes = Object.keys(PRICES).filter((prefix) => model === prefix || model.startsWith(`${prefix}-`));
  const longest = prefixes.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : PRICES[longest];
}

// US dollars for a million tokens.
const EMBEDDING_PRICES: Readonly<Record<string, number>> = {
  'openai text-embedding-3-small': 0.02,
  'openai text-embedding-3-large': 0.13,
};

/** What a million tokens cost at a service of embeddings, in US dollars; undefined where the price is not known. */
export function embeddingPrice({
  provider,
  model,
}: {
  readonly provider: string;
  readonly model: string;
}): number | undefined {
  return EMBEDDING_PRICES[`${provider} ${model}`];
}
