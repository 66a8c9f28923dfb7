import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { signInByBrowser } from '../../src/jobs/signIn/browserFlow.ts';
import { Browser } from './support/formBrowser.ts';
import { CLIENT_ID, TestProvider } from './support/identityProvider.ts';

const HOST = 'https://gpu.example.org';

function offerOf({ issuer }: TestProvider) {
  return { host: HOST, issuer, client_id: CLIENT_ID, scopes: ['openid', 'offline_access'] };
}

/** The address that the provider's page leads back to. */
function redirectOf(page: URL): URL {
  return new URL(page.searchParams.get('redirect_uri') ?? '');
}

test('a person signs in on the page of the provider, which leads back to this program', async (t) => {
  const provider = await TestProvider.start(t, { ada: { groups: ['staff'] } });
  const { promise: shown, resolve: onShown } = Promise.withResolvers<Response>();
  const record = await signInByBrowser(offerOf(provider), {
    signal: new AbortController().signal,
    open: async (page) => {
      assert.equal(page.searchParams.get('code_challenge_method'), 'S256');
      assert.equal(page.searchParams.get('resource'), HOST);
      const stranger = new URL(redirectOf(page));
      stranger.search = '?code=of-somebody-else&state=guessed';
      assert.equal((await fetch(stranger)).status, 404);
      void new Browser().signIn(page.href, 'ada').then(async (back) => onShown(await fetch(back)));
    },
  });
  assert.equal(decodeJwt(record.access_token).aud, HOST);
  assert.equal(decodeJwt(record.access_token)['preferred_username'], 'ada');
  assert.ok(record.refresh_token);
  const response = await shown;
  assert.equal(response.headers.get('content-security-policy'), "default-src 'none'");
  assert.match(await response.text(), /You are signed in\. You can close this page\./);
});

test('a person who is refused, a code that is not the provider’s and a token for another service end the sign-in', async (t) => {
  const provider = await TestProvider.start(t, { ada: { groups: ['staff'] } });
  const cases: Record<string, [answer: Record<string, string>, sentence: RegExp]> = {
    refused: [{ error: 'access_denied', error_description: 'no <b>way</b>' }, /refused: no <b>way<\/b>/],
    'another code': [{ code: 'made-up' }, /refused: /],
    'another provider': [{ code: 'made-up', iss: 'https://other.example.org' }, /did not answer as expected/],
  };
  for (const [name, [answer, sentence]] of Object.entries(cases)) {
    const signingIn = signInByBrowser(offerOf(provider), {
      signal: new AbortController().signal,
      open: async (page) => {
        const back = redirectOf(page);
        const state = page.searchParams.get('state') ?? '';
        back.search = new URLSearchParams({ iss: provider.issuer, ...answer, state }).toString();
        void fetch(back).then((response) => response.text());
      },
    });
    await assert.rejects(signingIn, sentence, name);
  }
  provider.audience = 'https://other.example.org';
  const signingIn = signInByBrowser(offerOf(provider), {
    signal: new AbortController().signal,
    open: async (page) => void new Browser().signIn(page.href, 'ada').then((back) => fetch(back)),
  });
  await assert.rejects(signingIn, /issued no token for https:\/\/gpu\.example\.org/);
});

test('a sign-in that is cancelled listens no longer', async (t) => {
  const provider = await TestProvider.start(t);
  const cancel = new AbortController();
  let redirect = '';
  const signingIn = signInByBrowser(offerOf(provider), {
    signal: cancel.signal,
    open: async (page) => {
      redirect = redirectOf(page).href;
      cancel.abort();
    },
  });
  await assert.rejects(signingIn, { name: 'AbortError' });
  await assert.rejects(fetch(redirect));
});
