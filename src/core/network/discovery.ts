import {
  allowInsecureRequests,
  type AuthorizationServer,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from 'oauth4webapi';
import { AppError, messageOf } from '../errors.ts';
import { classifyStatus, isPassing } from './classifyFailure.ts';
import { isProviderUrl } from './providerRules.ts';

/** The addresses in a provider's metadata that are used. */
const ENDPOINTS = [
  'authorization_endpoint',
  'device_authorization_endpoint',
  'jwks_uri',
  'revocation_endpoint',
  'token_endpoint',
] as const;

export interface ProviderRequestSettings {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal | undefined;
}

/** The options of each request with oauth4webapi. Addresses are checked by `isProviderUrl`, which allows http on this machine. */
export function requestOptions({ fetch, signal }: ProviderRequestSettings) {
  return {
    [customFetch]: fetch,
    [allowInsecureRequests]: true,
    ...(signal !== undefined && { signal }),
  };
}

/**
 * Reads the metadata of an identity provider (OpenID Connect Discovery 1.0, section 4). It has to name the same issuer, and
 * addresses to which tokens may be sent.
 *
 * @throws AppError `unreachable` if the provider does not answer, `refused` for metadata that cannot be used.
 */
export async function discoverProvider(
  issuer: string,
  settings: ProviderRequestSettings,
): Promise<AuthorizationServer> {
  const url = new URL(issuer);
  let response: Response;
  try {
    response = await discoveryRequest(url, requestOptions(settings));
  } catch (cause) {
    settings.signal?.throwIfAborted();
    const code = cause instanceof AppError ? cause.code : 'unreachable';
    throw new AppError(code, `The identity provider ${issuer} cannot be reached: ${messageOf(cause)}`, { cause });
  }
  const metadata = await readMetadata(url, response);
  if (metadata.issuer !== issuer) throw unusable(issuer, `it calls itself ${metadata.issuer.slice(0, 200)}`);
  for (const name of ENDPOINTS) {
    const endpoint = metadata[name];
    if (endpoint === undefined) continue;
    const isDowngrade = url.protocol === 'https:' && !endpoint.startsWith('https:');
    if (!isProviderUrl(endpoint) || isDowngrade) throw unusable(issuer, `its ${name} is not an https URL`);
  }
  return metadata;
}

async function readMetadata(issuer: URL, response: Response): Promise<AuthorizationServer> {
  const { status } = response;
  if (isPassing(classifyStatus(status))) {
    const message = `The identity provider ${issuer.href} does not answer now (status ${status}). Try again later.`;
    throw new AppError('unreachable', message);
  }
  if (status !== 200) throw unusable(issuer.href, `its metadata has the status ${status}`);
  try {
    return await processDiscoveryResponse(issuer, response);
  } catch (cause) {
    throw unusable(issuer.href, `its metadata is not that of this issuer (${messageOf(cause)})`, cause);
  }
}

function unusable(issuer: string, why: string, cause?: unknown): AppError {
  const message = `The identity provider ${issuer} cannot be used: ${why}. Its metadata is at ${metadataUrl(issuer)}.`;
  return new AppError('refused', message, { cause });
}

function metadataUrl(issuer: string): string {
  return `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
}
