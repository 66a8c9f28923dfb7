import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStale, patchFromEvent } from '../../../../src/jobs/log/jobPatch.ts';
import { makeRecord } from '../fixtures.ts';

const [FIRST, LATER] = ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.000Z'];

test('a job starts and ends once, at the time of the event or else when it arrived', () => {
  const running = (fields: Parameters<typeof makeRecord>[0], data: object = {}) =>
    patchFromEvent('state', { state: 'running', ...data }, LATER, makeRecord(fields));
  assert.equal(running({}).startedAt, LATER);
  assert.equal(running({}, { at: FIRST }).startedAt, FIRST);
  assert.equal(running({ startedAt: FIRST }).startedAt, undefined);
  const ended = (event: string, fields: Parameters<typeof makeRecord>[0] = {}) =>
    patchFromEvent(event, { state: 'failed' }, LATER, makeRecord(fields)).finishedAt;
  assert.deepEqual([ended('end'), ended('state'), ended('log')], [LATER, LATER, undefined]);
  assert.deepEqual(
    [ended('end', { finishedAt: FIRST }), ended('state', { finishedAt: FIRST })],
    [undefined, undefined],
  );
  assert.equal(patchFromEvent('end', {}, LATER, makeRecord()).finishedAt, LATER);
});

test('a job that has ended stays so, whatever comes late', () => {
  const over = makeRecord({ state: 'succeeded', finishedAt: FIRST });
  assert.deepEqual([isStale({ state: 'running' }, over), isStale({ state: 'running' }, makeRecord())], [true, false]);
  assert.deepEqual([isStale({ state: 'failed' }, over), isStale({ creditsCharged: 1 }, over)], [false, false]);
});
