import type { CountedTokens } from './usage.ts';
import { type Endpoint, LOCAL_PROVIDERS, providerOfModel } from './providers.ts';

/** US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Of input that the service had stored; as `input` if absent. */
  readonly cachedInput?: number;
  /** Of input that the service stores for later requests; as `input` if absent. */
  readonly cacheWrite?: number;
  /** Of sound; as `input` and `output` if absent. */
  readonly audioInput?: number;
  readonly audioOutput?: number;
  /** Longer prompts have another price, which is not known. */
  readonly upToTokens?: number;
}

/**
 * List prices, without discounts for batches. Each was looked up on 2026-11-20 in stored copies of the page that is
 * named, or of pages of 2026 that quote it. A model without an entry, because nothing was found or two pages differed, has no price:
 * showing no cost is better than a wrong one.
 */
const PRICES: Readonly<Record<string, ModelPrice>> = {
  // https://developers.openai.com/api/docs/pricing
  'openai/gpt-4o': { input: 2.5, output: 10, cachedInput: 1.25 },
  'openai/gpt-4o-mini': { input: 0.15, output: 0.6, cachedInput: 0.075 },
  'openai/gpt-4.1': { input: 2, output: 8, cachedInput: 0.5 },
  'openai/gpt-4.1-mini': { input: 0.4, output: 1.6, cachedInput: 0.1 },
  'openai/gpt-4.1-nano': { input: 0.1, output: 0.4, cachedInput: 0.025 },
  'openai/gpt-5': { input: 1.25, output: 10, cachedInput: 0.125 },
  'openai/gpt-5-mini': { input: 0.25, output: 2, cachedInput: 0.025 },
  'openai/gpt-5-nano': { input: 0.05, output: 0.4, cachedInput: 0.005 },
  // https://platform.claude.com/docs/en/about-claude/pricing; reading what is stored costs a tenth, storing it for five minutes a quarter more.
  'anthropic/claude-opus-4-5': { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25 },
  'anthropic/claude-opus-4-6': { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25, upToTokens: 200_000 },
  'anthropic/claude-opus-4-7': { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25, upToTokens: 200_000 },
  'anthropic/claude-sonnet-4': { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75, upToTokens: 200_000 },
  'anthropic/claude-sonnet-4-5': { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75, upToTokens: 200_000 },
  'anthropic/claude-sonnet-4-6': { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75, upToTokens: 200_000 },
  'anthropic/claude-haiku-4-5': { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25 },
  // https://ai.google.dev/gemini-api/docs/pricing
  'gemini/gemini-2.5-flash-lite': { input: 0.1, output: 0.4 },
  'gemini/gemini-3.5-flash': { input: 1.5, output: 9 },
};

// Of a million tokens. https://developers.openai.com/api/docs/models/text-embedding-3-large, which compares both; 2026-11-20.
const EMBEDDING_PRICES: Readonly<Record<string, number>> = {
  'openai/text-embedding-3-small': 0.02,
  'openai/text-embedding-3-large': 0.13,
};

// A snapshot costs as much as its model. Any other suffix is another model: `gpt-5-pro` is not `gpt-5`.
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

/** The cost of a call by list price, in US dollars; undefined if the price or a number is unknown. */
export function estimateCallCost(
  endpoint: Endpoint,
  tokens: Omit<CountedTokens, 'reasoning'>,
  price = priceOf(endpoint, PRICES),
): number | undefined {
  const { input, output } = tokens;
  if (price === undefined || input === undefined || output === undefined) return undefined;
  if (input > (price.upToTokens ?? Infinity)) return undefined;
  return costOf({ ...tokens, input, output }, price);
}

/** The cost of tokens at a price, in US dollars. */
export function costOf(
  tokens: Omit<CountedTokens, 'reasoning' | 'input' | 'output'> & { readonly input: number; readonly output: number },
  price: ModelPrice,
): number {
  const { input, cachedInput = 0, cacheWrite = 0, audioInput = 0, output, audioOutput = 0 } = tokens;
  const inputCost = costOfParts(input, price.input, [
    [cachedInput, price.cachedInput],
    [cacheWrite, price.cacheWrite],
    [audioInput, price.audioInput],
  ]);
  return (inputCost + costOfParts(output, price.output, [[audioOutput, price.audioOutput]])) / 1_000_000;
}

/** The cost of tokens of which parts may have prices of their own. */
function costOfParts(
  tokens: number,
  price: number,
  parts: readonly (readonly [tokens: number, price: number | undefined])[],
): number {
  let left = tokens;
  let cost = 0;
  for (const [size, ownPrice] of parts) {
    const part = Math.min(size, left);
    left -= part;
    cost += part * (ownPrice ?? price);
  }
  return cost + left * price;
}

/**
 * The price by which a run's `maxCost` is enforced: the given one, else the model's list price wherever it runs, and nothing for a
 * model on this machine. Undefined if none is known.
 */
export function budgetPrice({ provider, model }: Endpoint, price: ModelPrice | undefined): ModelPrice | undefined {
  if (price !== undefined) return price;
  if (LOCAL_PROVIDERS.has(provider)) return { input: 0, output: 0 };
  const name = model.replace(SNAPSHOT, '');
  return PRICES[`${provider}/${name}`] ?? PRICES[`${providerOfModel(name) ?? ''}/${name}`];
}

/** The cost of embedding a million tokens by list price, in US dollars; undefined if the price is unknown. */
export function embeddingPrice(endpoint: Endpoint): number | undefined {
  return priceOf(endpoint, EMBEDDING_PRICES);
}

/** The same model at another address may have any price. */
function priceOf<T>({ provider, model, isOwnAddress }: Endpoint, prices: Readonly<Record<string, T>>): T | undefined {
  const name = `${provider}/${model.replace(SNAPSHOT, '')}`;
  return isOwnAddress && Object.hasOwn(prices, name) ? prices[name] : undefined;
}
