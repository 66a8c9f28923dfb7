import OpenAI from 'openai';
import { AppError } from '../../core/errors.ts';
import { fieldOf, numberField } from '../../core/jsonFields.ts';
import { Redactor } from '../../core/redact.ts';
import type { Embedder } from '../../retrieval/embedding/embedder.ts';
import { parsedBody } from './completion.ts';
import { requestFailure } from './failure.ts';
import { clientOptions } from './openaiClient.ts';
import type { Endpoint } from './providers.ts';
import { withRetries } from './rateLimit.ts';
import { DEFAULT_TIMEOUT_SECONDS, ResponseTimeout, ResponseTimeoutError } from './responseTimeout.ts';

const RETRIES = 3;

/**
 * A function that embeds texts through an OpenAI-compatible endpoint. It retries while the service is busy, after the time that the
 * service specifies.
 *
 * It throws an AppError that names provider and model if the service fails, stalls or returns another number of vectors, or the signal's reason.
 */
export function embeddingService(endpoint: Endpoint, key: string | undefined): Embedder['embed'] {
  const { provider, model } = endpoint;
  const redactor = new Redactor();
  if (key !== undefined) redactor.add(key);
  const client = new OpenAI(clientOptions(endpoint, key));
  return async (texts, { signal, retries = RETRIES, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, onWait } = {}) => {
    const timeoutMs = timeoutSeconds * 1_000;
    const timeout = new ResponseTimeout(timeoutMs, signal);
    // Without an encoding the package requests base64, which few compatible services support.
    const body = { model, input: [...texts], encoding_format: 'float' as const };
    const request = { signal: timeout.signal, timeout: timeoutMs };
    const send = () => timeout.limit(() => client.embeddings.create(body, request));
    const { value } = await withRetries(send, { retries, signal, onWait }).catch((error: unknown) => {
      signal?.throwIfAborted();
      if (!(error instanceof ResponseTimeoutError)) throw requestFailure(error, endpoint, redactor);
      const what = `${endpoint.baseUrl} did not send its whole response within ${timeoutSeconds} s`;
      const message = `${provider} (${model}): ${what}. Check that the service runs, then try again.`;
      throw new AppError('unreachable', message, { cause: error });
    });
    const vectors = vectorsOf(parsedBody(value), texts.length);
    if (vectors !== undefined) return vectors;
    throw new AppError('corrupt', `${provider} (${model}): the response does not contain one vector for each text.`);
  };
}

/** The vectors of a response in the order of their texts; undefined if it does not have one for each. */
function vectorsOf(body: unknown, count: number): Float32Array[] | undefined {
  const data = fieldOf(body, 'data');
  if (!Array.isArray(data)) return undefined;
  const vectors = new Map<number, Float32Array>();
  for (const [position, item] of data.entries()) {
    const embedding = fieldOf(item, 'embedding');
    const numbers: unknown[] = Array.isArray(embedding) ? embedding : [];
    vectors.set(numberField(item, 'index') ?? position, Float32Array.from(numbers, Number));
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index));
  const complete = ordered.filter((vector) => vector !== undefined);
  return data.length === count && complete.length === count ? complete : undefined;
}
