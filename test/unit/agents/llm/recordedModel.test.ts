import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedModel } from '../../../../src/agents/index.ts';

test('a recorded model answers by a part of the prompt, in turn, as a stream, and rejects what nothing fits', async () => {
  const model = recordedModel({ weather: ['rain', 'sun'], time: (prompt) => `${prompt.length} o’clock` });
  const replies = [];
  for (let count = 0; count < 3; count += 1) replies.push(await model.ask('the weather?'));
  assert.deepEqual(replies, ['rain', 'sun', 'sun']);
  assert.equal(await model.ask('time?'), '5 o’clock');
  let streamed = '';
  for await (const piece of model.askStream('time!!')) streamed += piece;
  assert.equal(streamed, '6 o’clock');
  await assert.rejects(model.ask('who?'), /no reply to this prompt: who\?/);
});
