import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type DevicePrompt, signInByDevice } from '../../../../src/jobs/signIn/deviceFlow.ts';
import { type Answer, accessToken, HOST, startProvider } from './scriptedProvider.ts';

const GRANTED: Answer = [
  200,
  { access_token: accessToken(), token_type: 'bearer', expires_in: 300, refresh_token: 'r' },
];
const refusing = (error: string, error_description?: string): Answer => [400, { error, error_description }];

/** Signs in with a provider that answers each question about the code as listed, and the last one again and again. Undefined cuts the connection. */
async function signIn(
  t: TestContext,
  answers: readonly (Answer | undefined)[],
  device: object = {},
  signal = new AbortController().signal,
) {
  let asked = 0;
  const prompts: DevicePrompt[] = [];
  const provider = await startProvider(t, {
    token: () => answers[Math.min(asked++, answers.length - 1)],
    device: () => {
      const started = { device_code: 'd', user_code: 'ABCD', verification_uri: 'https://sso.example.org/device' };
      return [200, { ...started, expires_in: 60, interval: 1, ...device }];
    },
  });
  const record = signInByDevice(provider.offer, { show: (prompt) => prompts.push(prompt), signal });
  return { record, provider, prompts };
}

test('a person confirms a code, while the provider is asked until it has tokens for this service', async (t) => {
  const completeUrl = 'https://sso.example.org/device?code=ABCD';
  const { record, provider, prompts } = await signIn(t, [refusing('authorization_pending'), GRANTED], {
    verification_uri_complete: completeUrl,
  });
  const started = performance.now();
  const { fresh_until: until, ...rest } = await record;
  assert.ok(performance.now() - started > 1_500, 'it was asked twice, a second apart');
  assert.deepEqual(rest, { ...provider.offer, access_token: accessToken(), refresh_token: 'r' });
  assert.ok(until > Date.now() && until <= Date.now() + 240_000);
  assert.deepEqual(prompts, [{ url: 'https://sso.example.org/device', code: 'ABCD', completeUrl }]);
  const asking = { client_id: 'client', resource: HOST };
  const redeeming = { ...asking, device_code: 'd', grant_type: 'urn:ietf:params:oauth:grant-type:device_code' };
  assert.deepEqual(provider.requests, [
    ['/device', { ...asking, scope: 'openid jobs' }],
    ['/token', redeeming],
    ['/token', redeeming],
  ]);
});

test('each refusal of the provider says who refused', async (t) => {
  const refusals: readonly [answer: Answer, code: string, message: (issuer: string) => string][] = [
    [
      refusing('access_denied'),
      'not-signed-in',
      (issuer) => `The sign-in was refused at ${issuer}. Nothing has changed.`,
    ],
    [
      refusing('expired_token'),
      'not-signed-in',
      (issuer) => `Nobody confirmed the code at ${issuer} in time. Sign in again.`,
    ],
    [
      refusing('invalid_client', 'no\nsuch \u001b[31mclient'),
      'not-signed-in',
      (issuer) => `The identity provider ${issuer} refused: no such client`,
    ],
    [
      [200, { access_token: accessToken('https://other.example.org'), token_type: 'bearer' }],
      'refused',
      (issuer) =>
        `The identity provider ${issuer} issued no token for ${HOST}, so nothing was sent there. Ask the operator of the service: the audience of access tokens must be ${HOST}.`,
    ],
  ];
  await Promise.all(
    refusals.map(async ([answer, code, message]) => {
      const { record, provider } = await signIn(t, [answer]);
      await assert.rejects(record, { code, message: message(provider.issuer) });
      assert.equal(provider.requests.length, 2);
    }),
  );
});

test('a code that nobody confirms in time ends the sign-in', async (t) => {
  const { record, provider } = await signIn(t, [refusing('authorization_pending')], { expires_in: 1 });
  const message = `Nobody confirmed the code at ${provider.issuer} in time. Sign in again.`;
  await assert.rejects(record, { code: 'not-signed-in', message });
});

test('a code that was confirmed while the provider could not be reached is redeemed once it can', async (t) => {
  const failures: readonly (Answer | undefined)[] = [
    undefined,
    [502, '<h1>Bad gateway</h1>'],
    refusing('temporarily_unavailable'),
  ];
  await Promise.all(
    failures.map(async (failure) => {
      const { record, provider } = await signIn(t, [failure, GRANTED]);
      assert.equal((await record).access_token, accessToken());
      assert.equal(provider.requests.length, 3);
    }),
  );
});

test('a provider that cannot be reached until the code expires is named', async (t) => {
  const { record, provider } = await signIn(t, [[503, {}]], { expires_in: 1 });
  const message = `The identity provider ${provider.issuer} did not answer as expected: HTTP 503`;
  await assert.rejects(record, { code: 'unreachable', message });
});

test('an answer that makes no sense ends the sign-in', async (t) => {
  for (const answer of [
    [200, {}],
    [404, {}],
  ] as const) {
    const { record, provider } = await signIn(t, [answer]);
    await assert.rejects(record, new RegExp(`^AppError: The identity provider ${provider.issuer} did not answer as `));
    assert.equal(provider.requests.length, 2);
  }
});

test('an abort ends the sign-in with its reason', async (t) => {
  const controller = new AbortController();
  const { record } = await signIn(t, [refusing('slow_down')], {}, controller.signal);
  const rejected = assert.rejects(record, /^Error: enough$/);
  controller.abort(new Error('enough'));
  await rejected;
});

test('a page or code that should not be shown is refused before anything is shown', async (t) => {
  for (const device of [
    { verification_uri: 'file:///bin/sh' },
    { verification_uri: 'http://sso.example.org/device' },
    { verification_uri_complete: 'javascript:alert(1)' },
    { user_code: 'x'.repeat(101) },
  ]) {
    const { record, provider, prompts } = await signIn(t, [GRANTED], device);
    const message = `The identity provider ${provider.issuer} returned the address of a page that cannot be opened.`;
    await assert.rejects(record, { code: 'refused', message });
    assert.deepEqual(prompts, []);
    assert.equal(provider.requests.length, 1);
  }
  const longest = await signIn(t, [GRANTED], { user_code: 'x'.repeat(100) });
  await longest.record;
  assert.equal(longest.prompts.length, 1);
});

test('a provider without a device flow, or one that does not answer as it should, is named', async (t) => {
  const signal = new AbortController().signal;
  const show = (): void => assert.fail();
  const without = await startProvider(t, { token: () => GRANTED });
  await assert.rejects(signInByDevice(without.offer, { show, signal }), {
    code: 'refused',
    message: `The identity provider ${without.issuer} offers no device flow. Ask the operator of the service.`,
  });
  const broken = await startProvider(t, { token: () => GRANTED, device: () => [200, {}] });
  await assert.rejects(signInByDevice(broken.offer, { show, signal }), {
    code: 'unreachable',
    message: new RegExp(`^The identity provider ${broken.issuer} did not answer as expected: .`),
  });
  const refusal = await startProvider(t, { token: () => GRANTED, device: () => refusing('invalid_scope') });
  await assert.rejects(signInByDevice(refusal.offer, { show, signal }), {
    code: 'refused',
    message: `The identity provider ${refusal.issuer} refused: invalid_scope`,
  });
});
