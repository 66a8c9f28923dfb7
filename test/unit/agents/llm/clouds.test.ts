import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { LLMClient } from '../../../../src/agents/index.ts';
import { type Answer, chatServer, json, reply } from './llmServer.ts';

/** Sets variables for one test; undefined removes one. */
function withVariables(t: TestContext, variables: Readonly<Record<string, string | undefined>>): void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const [name, value] of Object.entries(variables)) set(name, value);
  t.after(() => before.forEach(([name, value]) => set(name, value)));
}

/** Accepts requests with this header only. */
const guarded =
  (header: string, value: () => string): Answer =>
  (response, request) =>
    (request.headers[header] === value() ? reply('Fine.') : json(401, { error: { message: 'who are you?' } }))(
      response,
      request,
    );

test('azure gets its key in a header of its own, at the addresses that people have', async (t) => {
  const { baseUrl, requests } = await chatServer(
    t,
    guarded('api-key', () => 'the-key'),
  );
  const resource = new URL(baseUrl).origin;
  withVariables(t, {
    AZURE_OPENAI_API_KEY: 'the-key',
    AZURE_OPENAI_ENDPOINT: undefined,
    OPENAI_API_VERSION: undefined,
  });
  const ask = (address: string): Promise<string> =>
    new LLMClient({ provider: 'azure', model: 'my model', baseUrl: address }).ask('x');
  const whole = '/openai/deployments/my%20model/chat/completions?api-version=2024-10-21';
  for (const [address, path] of [
    [resource, '/openai/v1/chat/completions'],
    [`${resource}/openai/v1/`, '/openai/v1/chat/completions'],
    [`${resource}/openai/v1?api-version=preview`, '/openai/v1/chat/completions?api-version=preview'],
    [`${resource}/?api-version=2024-10-21`, whole],
    [`${resource}/openai/deployments/my%20model?api-version=2024-10-21`, whole],
    [`${resource}${whole}`, whole],
  ] as const) {
    assert.equal(await ask(address), 'Fine.', address);
    assert.equal(requests.at(-1)?.path, path, address);
    assert.equal(requests.at(-1)?.headers.authorization, undefined);
    assert.equal(requests.at(-1)?.body.model, 'my model');
  }

  withVariables(t, { AZURE_OPENAI_ENDPOINT: `${resource}/` });
  await new LLMClient({ provider: 'azure', model: 'm' }).ask('x');
  assert.equal(requests.at(-1)?.path, '/openai/v1/chat/completions');
  withVariables(t, { OPENAI_API_VERSION: '2024-10-21' });
  await new LLMClient({ provider: 'azure', model: 'm' }).ask('x');
  assert.equal(requests.at(-1)?.path, '/openai/deployments/m/chat/completions?api-version=2024-10-21');

  withVariables(t, { AZURE_OPENAI_API_KEY: 'another' });
  await assert.rejects(ask(resource), {
    code: 'not-signed-in',
    message: /azure.*Check the key in AZURE_OPENAI_API_KEY/,
  });
  withVariables(t, { AZURE_OPENAI_ENDPOINT: undefined });
  const message = 'azure needs the endpoint of your resource. Set AZURE_OPENAI_ENDPOINT, or pass baseUrl.';
  assert.throws(() => new LLMClient({ provider: 'azure' }), { code: 'bad-input', message });
});

test('a token that expires is renewed once, by all requests together, and azure gets it as a bearer token', async (t) => {
  let valid = 1;
  const { baseUrl, requests } = await chatServer(
    t,
    guarded('authorization', () => `Bearer token-${valid}`),
  );
  let made = 0;
  const apiKey = async (): Promise<string> => `token-${(made += 1)}`;
  const client = new LLMClient({ provider: 'azure', baseUrl, model: 'm', apiKey });
  assert.equal(await client.ask('x'), 'Fine.');
  assert.equal(await client.ask('x'), 'Fine.');
  assert.equal(made, 1);
  valid = 2;
  assert.deepEqual(await Promise.all([client.ask('x'), client.ask('x')]), ['Fine.', 'Fine.']);
  assert.equal(made, 2);
  assert.ok(requests.every(({ headers }) => headers['api-key'] === undefined));
  valid = 9;
  const sent = requests.length;
  await assert.rejects(client.ask('x'), { code: 'not-signed-in' });
  assert.deepEqual([made, requests.length - sent], [3, 2], 'it is renewed once');
  await assert.rejects(client.ask('x'), ({ message }: Error) => !message.includes('token-'), 'the error has no token');
});

test('bedrock gets its bearer key at the address of the region', async (t) => {
  withVariables(t, { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'us-west-2' });
  const { baseUrl: regional, model } = new LLMClient({ provider: 'bedrock' });
  assert.equal(regional, 'https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1');
  assert.equal(model, 'openai.gpt-oss-120b-1:0');
  assert.equal(new LLMClient({ baseUrl: 'https://bedrock-mantle.us-east-1.api.aws/v1' }).provider, 'bedrock');
  const { baseUrl, requests } = await chatServer(
    t,
    guarded('authorization', () => 'Bearer the-key'),
  );
  withVariables(t, { AWS_BEARER_TOKEN_BEDROCK: 'the-key' });
  const client = new LLMClient({ provider: 'bedrock', baseUrl });
  assert.equal(await client.ask('x'), 'Fine.');
  assert.equal(requests[0]?.body.model, 'openai.gpt-oss-120b-1:0');
  withVariables(t, { AWS_BEARER_TOKEN_BEDROCK: 'wrong' });
  await assert.rejects(new LLMClient({ provider: 'bedrock', baseUrl }).ask('x'), {
    message: /Check the key in AWS_BEARER_TOKEN_BEDROCK/,
  });
  withVariables(t, { AWS_BEARER_TOKEN_BEDROCK: undefined, AWS_REGION: undefined, AWS_DEFAULT_REGION: undefined });
  await assert.rejects(new LLMClient({ provider: 'bedrock', baseUrl }).ask('x'), {
    message: 'bedrock needs an API key. Set AWS_BEARER_TOKEN_BEDROCK, or pass apiKey.',
  });
  assert.throws(() => new LLMClient({ provider: 'bedrock' }), /bedrock needs a region. Set AWS_REGION/);
});

test('vertex is addressed by project and location, and takes the token of gcloud, renewed when it has expired', async (t) => {
  withVariables(t, { GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: undefined, VERTEX_API_KEY: undefined });
  const addressOf = (): string => new LLMClient({ provider: 'vertex' }).baseUrl;
  assert.equal(addressOf(), 'https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi');
  withVariables(t, { GOOGLE_CLOUD_LOCATION: 'europe-west4' });
  const regional =
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/endpoints/openapi';
  assert.equal(addressOf(), regional);
  assert.equal(new LLMClient({ baseUrl: regional }).provider, 'vertex');

  const bin = await mkdtemp(join(tmpdir(), 'farwharf-gcloud-'));
  t.after(() => rm(bin, { recursive: true }));
  const print = (token: string): Promise<void> =>
    writeFile(join(bin, 'gcloud'), `#!/bin/sh\n[ "$1 $2" = "auth print-access-token" ] && echo ${token}\n`);
  await print('first');
  await chmod(join(bin, 'gcloud'), 0o755);
  withVariables(t, { PATH: `${bin}${delimiter}${process.env['PATH']}` });
  let valid = 'first';
  const { baseUrl } = await chatServer(
    t,
    guarded('authorization', () => `Bearer ${valid}`),
  );
  const client = new LLMClient({ provider: 'vertex', baseUrl });
  assert.equal(await client.ask('x'), 'Fine.');
  valid = 'second';
  await print(valid);
  assert.equal(await client.ask('x'), 'Fine.');

  withVariables(t, { PATH: '' });
  await assert.rejects(new LLMClient({ provider: 'vertex', baseUrl }).ask('x'), {
    code: 'not-signed-in',
    message:
      'vertex needs an access token. Sign in with gcloud auth login, set VERTEX_API_KEY, or pass apiKey: a function that returns one.',
  });
});
