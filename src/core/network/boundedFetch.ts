import { AppError } from '../errors.ts';
import { createNetworkFetch } from './networkFetch.ts';

const TIMEOUT_MS = 10_000;
// Much larger than the metadata and keys of any provider.
const MAX_BYTES = 1_000_000;
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * Creates a `fetch` for an identity provider, which may be slow, broken or hostile: a response has to arrive completely within
 * `timeoutMs`, has at most 1 MB, and is no redirect, because nobody agreed to the address that it leads to.
 *
 * @returns a function that rejects with AppError `unreachable` or `refused`, or with the system's own error.
 */
export function createBoundedFetch({ timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = {}): typeof fetch {
  const send = createNetworkFetch({ connectMs: timeoutMs });
  return async (input, init = {}) => {
    const { host } = new URL(input instanceof Request ? input.url : input);
    const late = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
    try {
      const response = await send(input, { ...init, redirect: 'manual', signal });
      const { status, headers } = response;
      if (status >= 300 && status < 400) {
        await response.body?.cancel();
        throw new AppError('refused', `${host} redirects to another address, which was not followed.`);
      }
      const body = await readUpTo(response, maxBytes);
      if (body === undefined) throw new AppError('refused', `${host} sent more than ${maxBytes} bytes.`);
      return new Response(NO_BODY.has(status) ? null : body, { status, headers });
    } catch (error) {
      if (!late.aborted || init.signal?.aborted === true || error instanceof AppError) throw error;
      const message = `${host} did not respond within ${timeoutMs / 1_000} s.`;
      throw new AppError('unreachable', message, { cause: error });
    }
  };
}

/** The body of a response; undefined if it is larger. */
async function readUpTo(response: Response, maxBytes: number): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- web streams are iterable in Node.js
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) return undefined; // leaving the loop closes the connection
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
