import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { BudgetError, Flow, LLMClient, Node } from '../../../../src/agents/index.ts';
import { GUARD_MS } from '../../timeLimits.ts';
import { type Answer, chatServer, delta, reply, streamed } from '../llm/llmServer.ts';

/** A flow that asks until the run ends; each reply has 100 + 20 tokens. */
async function endless(t: TestContext, answer: Answer = reply('Again.'), price?: { input: number; output: number }) {
  const { baseUrl, requests } = await chatServer(t, answer);
  const llm = new LLMClient({ baseUrl, model: 'm', ...(price && { price }) });
  class Ask extends Node {
    override exec(): Promise<string> {
      return llm.ask('x');
    }
  }
  const ask = new Ask();
  return { flow: new Flow({ start: ask }).connect(ask, ask), requests, llm };
}

async function spentBy(promise: Promise<unknown>, limit: RegExp): Promise<BudgetError['spent']> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof BudgetError, String(error));
  assert.match(error.message, limit);
  return error.spent;
}

test('maxTokens ends a run before the next visit, with what was spent', async (t) => {
  const { flow, requests } = await endless(t);
  const { tokens, cost, seconds } = await spentBy(
    flow.run({}, { maxTokens: 200 }),
    /maxTokens: it spent 240 tokens of 200/,
  );
  assert.equal(tokens, 240);
  assert.equal(cost, undefined);
  assert.ok(seconds > 0);
  assert.equal(requests.length, 2);
});

test('maxCost counts US dollars, and nothing may be spent when it is 0', async (t) => {
  const price = { input: 1000, output: 5000 };
  const { flow, requests } = await endless(t, undefined, price);
  assert.equal((await spentBy(flow.run({}, { maxCost: 0.3 }), /maxCost/)).cost, 0.4);
  assert.equal(requests.length, 2);
  await spentBy(flow.run({}, { maxCost: 0 }), /maxCost/);
  assert.equal(requests.length, 2);
});

test('maxCost uses the list price of a model wherever it runs, and refuses a model whose price nobody knows', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('Fine.'));
  const run = (model: string): Promise<unknown> => {
    const llm = new LLMClient({ baseUrl, model });
    class Ask extends Node {
      override async exec(): Promise<void> {
        for (let call = 0; call < 3; call += 1) await llm.ask('x');
      }
    }
    return new Ask({ maxRetries: 2 }).run({}, { maxCost: 0.00005 });
  };
  // 100 × $2.50 + 20 × $10 for a million tokens
  assert.equal((await spentBy(run('gpt-4o'), /maxCost/)).cost, 0.00045);
  assert.equal(requests.length, 1);
  await spentBy(run('unheard-of'), /no price is known for custom \(unheard-of\).*Pass price/);
  assert.equal(requests.length, 1);
});

test('a run in a hook spends the budget of the run around it', async (t) => {
  const { flow, requests } = await endless(t);
  class Outer extends Node {
    override exec(): Promise<unknown> {
      return flow.run({});
    }
  }
  await spentBy(new Outer().run({}, { maxTokens: 100 }), /maxTokens/);
  assert.equal(requests.length, 1);
});

test('maxSeconds aborts a request that hangs and leaves nothing open', { timeout: GUARD_MS }, async (t) => {
  let closed: () => void = () => {};
  const isClosed = new Promise<void>((resolve) => (closed = resolve));
  const { flow } = await endless(t, (response) => void response.on('close', closed));
  await spentBy(flow.run({}, { maxSeconds: 0.2 }), /maxSeconds/);
  await isClosed;
});

test('tokens are estimated where a stream reports none, also one that is left early', async (t) => {
  const { llm } = await endless(t, streamed([delta('x'.repeat(400)), delta('more')], { isEnded: false }));
  class Read extends Node {
    override async exec(): Promise<void> {
      for await (const _piece of llm.askStream('x')) break;
      await llm.ask('x');
    }
  }
  const { tokens } = await spentBy(new Read().run({}, { maxTokens: 50 }), /maxTokens/);
  assert.ok(tokens >= 100);
});

test('limits of the wrong type or below 0 are refused by name', async () => {
  const run = (options: object): Promise<unknown> => new Node().run({}, options);
  await assert.rejects(run({ maxCost: '1' }), { name: 'TypeError', message: /option maxCost/ });
  await assert.rejects(run({ maxSeconds: -1 }), { name: 'RangeError', message: /maxSeconds is -1/ });
  await assert.rejects(run({ maxTokens: Number.NaN }), { name: 'RangeError', message: /maxTokens is NaN/ });
  await assert.rejects(run({ onEvent: true }), { name: 'TypeError', message: /option onEvent/ });
});
