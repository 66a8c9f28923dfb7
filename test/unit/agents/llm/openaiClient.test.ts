import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import OpenAI from 'openai';
import { clientOptions } from '../../../../src/agents/llm/openaiClient.ts';
import { resolveEndpoint } from '../../../../src/agents/llm/providers.ts';

/** The headers of a request to a provider, with variables of the environment. */
async function headersTo(t: TestContext, provider: string, env: Readonly<Record<string, string>>): Promise<Headers> {
  const before = { ...process.env };
  t.after(() => {
    for (const name of Object.keys(env)) {
      const value = before[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  Object.assign(process.env, env);
  const sent: Headers[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent.push(new Headers(init?.headers));
    return Response.json({ choices: [] });
  };
  const client = new OpenAI(clientOptions(resolveEndpoint({ provider, model: 'm' }), 'key-1', fetch));
  await client.chat.completions.create({ model: 'm', messages: [] });
  return sent[0] ?? assert.fail('nothing was sent');
}

const ENV = {
  OPENAI_ORG_ID: 'org-1',
  OPENAI_PROJECT_ID: 'project-1',
  OPENAI_CUSTOM_HEADERS: 'X-Gateway-Key: secret\nauthorization: Basic secret',
};

test('what the environment sets for OpenAI is sent to OpenAI only', async (t) => {
  const other = await headersTo(t, 'groq', ENV);
  assert.deepEqual(
    [...other].filter(([, value]) => /secret|org-1|project-1/.test(value)),
    [],
  );
  assert.equal(other.get('authorization'), 'Bearer key-1');
  const own = await headersTo(t, 'openai', ENV);
  assert.equal(own.get('x-gateway-key'), 'secret');
  assert.equal(own.get('openai-organization'), 'org-1');
  assert.equal(own.get('authorization'), 'Bearer key-1');
});
