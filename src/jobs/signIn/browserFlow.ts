import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import * as l10n from '@vscode/l10n';
import { generateRandomCodeVerifier, generateRandomState } from 'oauth4webapi';
import { createBoundedFetch } from '../../core/network/boundedFetch.ts';
import { IdentityProvider } from './identityProvider.ts';
import { newSignIn, type SignInOffer, type SignInRecord } from './signInRecord.ts';

const PATH = '/callback';

/**
 * Signs in with a browser on this machine: the provider's page leads back to a port of this program on the loopback address (RFC 8252,
 * section 7.3), with a code that is of no use without the secret of this program (PKCE).
 *
 * @param open opens a page in the browser.
 * @throws AppError that says who refused; the signal's reason on abort.
 */
export async function signInByBrowser(
  offer: SignInOffer,
  { open, signal }: { readonly open: (url: URL) => Promise<void>; readonly signal: AbortSignal },
): Promise<SignInRecord> {
  const provider = await IdentityProvider.open(offer, { fetch: createBoundedFetch(), signal });
  const secrets = { verifier: generateRandomCodeVerifier(), state: generateRandomState() };
  await using callback = await waitForCallback(secrets.state, signal);
  await open(await provider.authorizationUrl(callback.redirectUri, secrets));
  const { url, respond } = await callback.answer;
  try {
    const record = newSignIn(offer, await provider.redeemCode(url, callback.redirectUri, secrets));
    respond(l10n.t('You are signed in. You can close this page.'));
    return record;
  } catch (error) {
    respond(l10n.t('The sign-in failed. The program that opened this page says why.'));
    throw error;
  }
}

interface Callback extends AsyncDisposable {
  readonly redirectUri: string;
  /** The address to which the provider redirected, and a function that shows a sentence there. */
  readonly answer: Promise<{ readonly url: URL; readonly respond: (sentence: string) => void }>;
}

/** Listens for the one request with this state. Other pages and programs can send requests too, and learn nothing. */
async function waitForCallback(state: string, signal: AbortSignal): Promise<Callback> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Awaited<Callback['answer']>>();
  answer.catch(() => {}); // reported when it is awaited
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', redirectUri);
    const isExpected = request.method === 'GET' && url?.pathname === PATH && url.searchParams.get('state') === state;
    if (url !== null && isExpected) resolve({ url, respond: (sentence) => showPage(response, sentence) });
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening', { signal });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const redirectUri = `http://127.0.0.1:${port}${PATH}`;
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    redirectUri,
    answer,
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', onAbort);
      server.close();
      server.closeIdleConnections();
    },
  };
}

function showPage(response: ServerResponse, sentence: string): void {
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    connection: 'close',
  });
  const text = sentence.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  response.end(`<!doctype html><meta charset="utf-8"><title>Farwharf</title><p>${text}</p>`);
}
