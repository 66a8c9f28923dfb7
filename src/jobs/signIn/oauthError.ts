import { AuthorizationResponseError, OperationProcessingError, ResponseBodyError } from 'oauth4webapi';
import { printableLine } from '../../core/text/printable.ts';

const MAX_TEXT = 300;

/** What a provider says about a request that it refused (RFC 6749, section 5.2); undefined for any other error. */
export function oauthError(error: unknown): { readonly code: string; readonly text: string } | undefined {
  if (!(error instanceof ResponseBodyError || error instanceof AuthorizationResponseError)) return undefined;
  const text = printableLine(error.error_description ?? error.error).slice(0, MAX_TEXT);
  return { code: error.error, text };
}

/** The HTTP status of an unusable response; undefined if the status was not the problem. */
export function responseStatus(error: unknown): number | undefined {
  if (!(error instanceof OperationProcessingError) || !(error.cause instanceof Response)) return undefined;
  return error.cause.status;
}
