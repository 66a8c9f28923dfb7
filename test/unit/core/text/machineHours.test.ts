import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addHours, describeHours, hoursOf, NO_HOURS } from '../../../../src/core/text/machineHours.ts';

test('the use of a machine is its cores and GPUs, each multiplied by the hours', () => {
  assert.deepEqual(hoursOf({ cpus: 8, gpus: 2 }, 1_800), { core: 4, gpu: 1 });
  assert.deepEqual(addHours(hoursOf({ cpus: 1, gpus: 0 }, 3_600), NO_HOURS), { core: 1, gpu: 0 });
});

test('hours have their unit, and an amount that would be 0 is left out', () => {
  assert.equal(describeHours({ core: 4, gpu: 1 }), '4 core-hours, 1 GPU-hour');
  assert.equal(describeHours({ core: 1, gpu: 0.25 }), '1 core-hour, 0.25 GPU-hours');
  assert.equal(describeHours({ core: 0.0027, gpu: 0 }), '0.0027 core-hours');
  assert.equal(describeHours({ core: 0, gpu: 3 }), '3 GPU-hours');
  for (const none of [NO_HOURS, { core: 0.00001, gpu: 0 }, { core: -4, gpu: Number.NaN }])
    assert.equal(describeHours(none), '');
});
