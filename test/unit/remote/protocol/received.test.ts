import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { asSent, readerOf, received } from '../../../../src/remote/protocol/received.ts';
import {
  acceptedJobId,
  artifactEventData,
  endEventData,
  flowEventData,
  logEventData,
  receivedAccount,
  receivedJob,
  receivedJobCreated,
  stateEventData,
  usageEventData,
} from '../../../../src/remote/protocol/schemas.ts';

const BODY = z.object({
  text: z.string(),
  number: z.int().min(1),
  choice: z.enum(['a', 'b']),
  only: z.literal('x'),
  maybe: z.string().nullable(),
  optional: z.number().optional(),
  list: z.array(z.string()),
  inner: z.object({ deep: z.number() }),
});

test('a field of the declared type is read, whatever its range, and other fields are kept', () => {
  const body = {
    text: '',
    number: 0.5,
    choice: 'c',
    only: 'y',
    maybe: null,
    optional: null,
    list: [],
    inner: { deep: 1, more: [2] },
    other: { a: 1 },
  };
  assert.deepEqual(received(BODY).parse(body), body);
  assert.deepEqual(received(BODY).parse({}), {});
});

test('a field of another type reads as absent, in a field of a field too', () => {
  const wrong = { text: 1, number: '1', choice: 1, only: 1, maybe: 1, optional: 'x', list: 'a', inner: 'x' };
  const read = received(BODY).parse(wrong) as Record<string, unknown>;
  assert.ok(Object.keys(wrong).every((name) => read[name] === undefined));
  assert.deepEqual(received(BODY).parse({ list: ['a', 1], inner: { deep: 'x', more: 1 } }), {
    list: undefined,
    inner: { deep: undefined, more: 1 },
  });
});

test('a body that is no object, or lacks a required field, is refused', () => {
  for (const value of [null, [], 'text', 1]) assert.equal(received(BODY).safeParse(value).success, false);
  const strict = received(BODY, { text: z.string().min(1) });
  assert.equal(strict.safeParse({}).success, false);
  assert.equal(strict.safeParse({ text: '' }).success, false);
  assert.deepEqual(strict.parse({ text: 'a', number: 'x' }), { text: 'a', number: undefined });
});

test('a type that no body of the protocol has is an error of the program', () => {
  assert.throws(() => readerOf(z.date()), {
    name: 'TypeError',
    message: 'A body of the protocol cannot have a field of type date.',
  });
});

test('an account and a job are read with any fields, and what is passed on as sent is any object', () => {
  assert.deepEqual(receivedAccount.parse({ balance: 3, plan: null }), { balance: 3, plan: null, credits: 3 });
  assert.deepEqual(receivedJob.parse({ status: 'done', exit_code: 'x' }), {
    status: 'done',
    state: 'done',
    exit_code: undefined,
  });
  const sent = { status: 'done', exit_code: 'x' };
  assert.deepEqual(asSent().parse(sent), sent);
  assert.equal(asSent().safeParse([]).success, false);
});

test('a job ID has 1 to 256 characters that are special to nobody', () => {
  for (const id of ['a', 'x'.repeat(256), 'A_z0.:~@+=-', '-a', '...']) {
    assert.equal(acceptedJobId.safeParse(id).success, true, id);
    assert.equal(receivedJobCreated.parse({ job_id: id }).job_id, id);
  }
  for (const id of ['', 'x'.repeat(257), 'a/b', 'a b', 'a\n', 'é', '$', '.', '..']) {
    const { error } = acceptedJobId.safeParse(id);
    assert.equal(error?.issues[0]?.message, 'must be 1 to 256 letters, digits or characters of "_.:~@+=-"', id);
  }
});

test('data of events has its fields, and others are kept', () => {
  const cases: readonly (readonly [z.ZodType, object, readonly object[]])[] = [
    [
      stateEventData,
      { state: 'running', at: 'now', reason: 'r', more: 1 },
      [{ state: 'sleeping', at: '' }, { state: 'running' }],
    ],
    [logEventData, { stream: 'stderr', text: '', more: 1 }, [{ stream: 'x', text: '' }, { stream: 'stdout' }]],
    [flowEventData, { type: 'x', run: 1, more: 1 }, [{ type: 'x' }, { run: 1 }]],
    [artifactEventData, { path: 'a', size: 0, more: 1 }, [{ path: 'a' }, { size: 1 }]],
    [
      endEventData,
      { state: 'failed', exit_code: null, credits_charged: 0, more: 1 },
      [{ state: 'failed' }, { credits_charged: 1 }],
    ],
    [endEventData, { state: 'lost', credits_charged: 0 }, [{ state: 'lost', credits_charged: 0, exit_code: 'x' }]],
    [
      usageEventData,
      { at: 'now', cpu_cores: 0, memory_bytes: 1, more: 1 },
      [{ at: 'now', cpu_cores: -1 }, { cpu_cores: 1 }],
    ],
  ];
  for (const [schema, fine, others] of cases) {
    assert.deepEqual(schema.parse(fine), fine);
    for (const other of others) assert.equal(schema.safeParse(other).success, false, JSON.stringify(other));
  }
});
