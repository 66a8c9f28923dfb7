import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { AppError, type ErrorCode, messageOf, systemCode } from '../../core/errors.ts';
import { classifyStatus, isPassing } from '../../core/network/classifyFailure.ts';
import { networkFailureText } from '../../core/network/failureText.ts';
import { parseRetryAfter } from '../../core/retry.ts';
import type { Redactor } from '../../core/redact.ts';
import { formatDuration } from '../../core/text/format.ts';
import type { Endpoint } from './providers.ts';
import { MAX_WAIT_MS } from './rateLimit.ts';
import { BrokenReplyError } from './replyStream.ts';
import { ResponseTimeoutError } from './responseTimeout.ts';

// A response may contain a page of HTML, or the whole prompt.
const MAX_DETAIL = 500;

/**
 * The error of a failed request: it names provider, model and what to do. Neither it nor its cause contains the key, even if
 * the service returned it.
 */
export function requestFailure(error: unknown, endpoint: Endpoint, redactor: Redactor): AppError {
  const { provider, model, baseUrl, keyVariable } = endpoint;
  const detail = redactor.redact(detailOf(error)).slice(0, MAX_DETAIL);
  const cause = new Error(redactor.redact(error instanceof Error ? (error.stack ?? error.message) : String(error)));
  const status = error instanceof APIError && typeof error.status === 'number' ? error.status : undefined;
  const fail = (code: ErrorCode, what: string, advice: string): AppError =>
    new AppError(
      code,
      `${provider} (${model}): ${what}${detail === '' ? '' : `: ${detail.replace(/\.$/, '')}`}. ${advice}`,
      { cause },
    );

  if (error instanceof ResponseTimeoutError) {
    const what = `${baseUrl} did not respond within ${error.seconds} s. Try again, or set a longer timeout.`;
    return new AppError('unreachable', `${provider} (${model}): ${what}`, { cause });
  }
  if (error instanceof BrokenReplyError) return fail('unreachable', error.what, error.advice);
  if (error instanceof APIConnectionTimeoutError) {
    return fail('unreachable', `${baseUrl} did not respond in time`, 'Try again, or set a longer timeout.');
  }
  if (status === undefined) {
    const networkText = networkFailureText(error, URL.parse(baseUrl)?.host);
    if (networkText !== undefined) {
      return new AppError('unreachable', `${provider} (${model}): ${redactor.redact(networkText)}`, { cause });
    }
    if (!(error instanceof APIConnectionError)) {
      return fail('unreachable', 'the reply could not be read to its end', 'Try again.');
    }
    return fail(
      'unreachable',
      `no usable response from ${baseUrl}`,
      'Check the address and that the service is running.',
    );
  }
  const what = `the service returned HTTP ${status}`;
  const failure = classifyStatus(status);
  if (failure === 'unauthorized' || failure === 'forbidden') {
    return fail('not-signed-in', what, `Check the key${keyVariable === undefined ? '' : ` in ${keyVariable}`}.`);
  }
  if (failure === 'missing') return fail('missing', what, `Check that the model "${model}" exists at ${baseUrl}.`);
  if (failure === 'busy') return fail('limit', what, rateLimitAdvice(error));
  if (isPassing(failure)) return fail('unreachable', what, `Try again later${waitNote(error)}.`);
  return fail('bad-input', what, 'Change the request.');
}

function rateLimitAdvice(error: unknown): string {
  return `The rate limit or the quota is used up${waitNote(error)}: wait, or raise the limit.`;
}

/** How long the service asks to wait, and that a request does not wait so long by itself. */
function waitNote(error: unknown): string {
  const headers: unknown = error instanceof APIError ? error.headers : undefined;
  const waitMs = headers instanceof Headers ? parseRetryAfter(headers.get('retry-after'), Date.now()) : undefined;
  if (waitMs === undefined) return '';
  const limit = waitMs > MAX_WAIT_MS ? `, longer than the ${MAX_WAIT_MS / 1000} s that a request waits by itself` : '';
  return `, and the service asks you to wait ${formatDuration(waitMs / 1000)}${limit}`;
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const innermost = cause?.cause instanceof Error ? cause.cause : cause;
  const text = innermost === undefined ? messageOf(error) : (systemCode(innermost) ?? innermost.message);
  return text.replace(/\s+/g, ' ').replace(/^\d{3} /, '');
}
