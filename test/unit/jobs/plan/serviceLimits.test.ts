import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  readFeatures,
  readLimits,
  readMachineClasses,
  takesContents,
} from '../../../../src/jobs/plan/serviceLimits.ts';

test('limits are those that a service states, above zero', () => {
  const none = { maxRuntime: undefined, maxUploadBytes: undefined, maxHold: undefined };
  assert.deepEqual(readLimits({ limits: { max_runtime: 60, max_upload_bytes: 1, max_hold: 30 } }), {
    isStated: true,
    maxRuntime: 60,
    maxUploadBytes: 1,
    maxHold: 30,
  });
  for (const limits of [{}, { max_runtime: 0, max_upload_bytes: -1 }, { max_runtime: '60', max_upload_bytes: null }]) {
    assert.deepEqual(readLimits({ limits }), { isStated: true, ...none });
  }
  for (const account of [undefined, null, {}, { limits: null }, { limits: 5 }, 'x']) {
    assert.deepEqual(readLimits(account), { isStated: false, ...none });
  }
});

test('a service takes contents if it says so', () => {
  assert.equal(takesContents({ features: ['secrets', 'content'] }), true);
  for (const account of [undefined, {}, { features: ['contents'] }, { features: 'content' }])
    assert.equal(takesContents(account), false);
  assert.deepEqual(readFeatures({ features: ['a'] }), ['a']);
  assert.deepEqual(readFeatures({}), []);
});

test('machine classes are known if each row names one', () => {
  assert.deepEqual(readMachineClasses({ rate_card: [{ machine_class: 'a', id: 'b' }, { machine_class: 'c' }] }), [
    ['a', 'b'],
    ['c'],
  ]);
  for (const account of [
    undefined,
    {},
    { rate_card: [] },
    { rate_card: [{ machine_class: 'a' }, { credits_per_minute: 1 }] },
  ]) {
    assert.equal(readMachineClasses(account), undefined);
  }
});
