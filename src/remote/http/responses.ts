import { STATUS_CODES } from 'node:http';
import type * as z from 'zod';
import type { Redactor } from '../../core/redact.ts';
import { classifyStatus } from '../../core/network/classifyFailure.ts';
import { parseRetryAfter } from '../../core/retry.ts';
import { printableText } from '../../core/text/printable.ts';
import { parseJson } from '../../core/jsonFields.ts';
import { AuthError, InsufficientCreditsError, RemoteError } from './remoteErrors.ts';
import type { HttpResponse } from './exchange.ts';

const MAX_JSON_BYTES = 32 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_DETAIL_CHARACTERS = 2000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The decoded body of a successful response; an empty object if there is none (204).
 *
 * @throws RemoteError for a body that is not JSON, does not match the schema, or is larger than 32 MB.
 */
export async function readJson<T>(response: HttpResponse, schema: z.ZodType<T>): Promise<T> {
  const { bytes, isWhole } = await readUpTo(response.body, MAX_JSON_BYTES);
  if (!isWhole) throw unusable(response, 'is larger than 32 MB');
  let value: unknown = {};
  try {
    if (response.status !== 204) value = parseJson(new TextDecoder().decode(bytes));
  } catch {
    // The parser's error quotes the text, which may contain secrets.
    throw unusable(response, 'is not valid JSON');
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  throw unusable(response, `does not have the expected format (${where}${issue?.message ?? 'unknown'})`);
}

/** The bytes of a successful response. @throws RemoteError above 32 MB. */
export async function readBytes(response: HttpResponse): Promise<Buffer> {
  const { bytes, isWhole } = await readUpTo(response.body, MAX_JSON_BYTES);
  if (!isWhole) throw unusable(response, 'is larger than 32 MB');
  return Buffer.from(bytes);
}

/**
 * The response, if its status is below 400 and it is neither a redirect nor a web page.
 *
 * @throws RemoteError or a subclass, as listed in the specification's section 7.
 */
export async function checkedResponse(response: HttpResponse, redactor: Redactor): Promise<HttpResponse> {
  const { status } = response;
  if (status >= 400) throw await failureOf(response, redactor);
  if (REDIRECTS.has(status)) {
    throw new RemoteError(
      status,
      `HTTP ${status}: the service redirects to another address. To protect your key, the redirect was not followed. ` +
        'Check the service address.',
    );
  }
  return /^text\/html\b/i.test(response.header('content-type') ?? '') ? withoutPage(response) : response;
}

/** The response, unless its body begins as a web page does. Many servers call every text `text/html`. */
async function withoutPage(response: HttpResponse): Promise<HttpResponse> {
  const chunks = response.body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return response;
  if (/^\s*(?:<|$)/.test(new TextDecoder().decode(first.value))) {
    throw unusable(response, 'is a web page. Check the service address, and whether a proxy requires a login');
  }
  return { ...response, body: withFirst(first.value, chunks) };
}

async function* withFirst(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

async function failureOf(response: HttpResponse, redactor: Redactor): Promise<RemoteError> {
  const { status } = response;
  const detail = tidy(await readDetail(response), redactor);
  const problem = { detail: detail || undefined };
  const failure = classifyStatus(status);
  if (failure === 'unauthorized' || failure === 'forbidden') {
    return new AuthError(status, `HTTP ${status}: ${detail || 'invalid or revoked API key'}`, problem);
  }
  if (failure === 'unpaid') return new InsufficientCreditsError(status, detail || 'not enough credits', problem);
  const reason = tidy(response.statusText, redactor) || STATUS_CODES[status] || 'unknown status';
  const wait = parseRetryAfter(response.header('retry-after'), Date.now());
  const retryAfter = wait === undefined ? undefined : Math.ceil(wait / 1_000);
  return new RemoteError(status, `HTTP ${status}: ${detail || reason}`, { ...problem, retryAfter });
}

/** The `detail` of a JSON body, else the body's text; empty if the connection breaks. */
async function readDetail(response: HttpResponse): Promise<string> {
  let text: string;
  try {
    const { bytes } = await readUpTo(response.body, MAX_ERROR_BYTES);
    text = new TextDecoder().decode(bytes).trim();
  } catch {
    return '';
  }
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    return text;
  }
  if (typeof body !== 'object' || body === null || !('detail' in body)) return text;
  const { detail } = body;
  if (typeof detail === 'string') return detail;
  return detail === null ? '' : JSON.stringify(detail);
}

/** Redacts before truncating, so that no part of a secret remains. */
function tidy(text: string, redactor: Redactor): string {
  const clean = redactor.redact(printableText(text)).trim();
  return clean.length <= MAX_DETAIL_CHARACTERS ? clean : `${clean.slice(0, MAX_DETAIL_CHARACTERS - 1)}…`;
}

async function readUpTo(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > limit) return { bytes: Buffer.concat(chunks).subarray(0, limit), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}

function unusable({ status }: HttpResponse, what: string): RemoteError {
  return new RemoteError(status, `HTTP ${status}: the service's response ${what}.`);
}
