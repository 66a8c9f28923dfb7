import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { type AnswerField, answerFieldOf, parseAnswer } from '../../../../../src/flows/run/history/answerField.ts';

const fieldOf = (schema: z.ZodType): AnswerField => answerFieldOf({ input: z.toJSONSchema(schema) });
const textOf = (schema: z.ZodType): Extract<AnswerField, { type: 'text' }> => {
  const field = fieldOf(schema);
  assert.ok(field.type === 'text');
  return field;
};

test('choices, and schemas with few values, are asked for with a button for each', () => {
  assert.deepEqual(answerFieldOf({ choices: ['yes', 'no'] }), {
    type: 'choices',
    choices: [
      { label: 'yes', value: 'yes' },
      { label: 'no', value: 'no' },
    ],
  });
  assert.deepEqual(fieldOf(z.enum(['a', 'b'])), {
    type: 'choices',
    choices: [
      { label: 'a', value: 'a' },
      { label: 'b', value: 'b' },
    ],
  });
  const field = fieldOf(z.boolean());
  assert.deepEqual(field.type === 'choices' && field.choices.map(({ value }) => value), [true, false]);
});

test('a text is the answer as it is, a number is converted, and anything else is JSON', () => {
  const plain = answerFieldOf({});
  assert.ok(plain.type === 'text');
  assert.deepEqual(parseAnswer(plain, '12'), { ok: true, value: '12' });
  const whole = textOf(z.int().min(1).max(5));
  assert.equal(whole.hint, 'A whole number, at least 1 and at most 5');
  assert.deepEqual(parseAnswer(whole, ' 4 '), { ok: true, value: 4 });
  assert.deepEqual(parseAnswer(whole, 'four'), { ok: false, reason: '“four” is not a number.' });
  assert.deepEqual(parseAnswer(whole, ' '), { ok: false, reason: '“ ” is not a number.' });
  assert.equal(textOf(z.int()).hint, 'A whole number');
  const list = textOf(z.object({ list: z.array(z.string()), count: z.number(), note: z.string().optional() }));
  assert.deepEqual(JSON.parse(list.start), { list: [], count: 0 });
  assert.deepEqual(parseAnswer(list, '{"list":["a"]}'), { ok: true, value: { list: ['a'] } });
  assert.deepEqual(parseAnswer(list, '{"list":['), { ok: false, reason: 'The answer is not valid JSON.' });
});
