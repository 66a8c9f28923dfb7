import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../random.ts';
import { readCalibration } from '../../../bench/scale/calibration.ts';
import { checkFormulas, simulateSubmits } from '../../../bench/scale/check.ts';
import { Clock } from '../../../bench/scale/clock.ts';
import { ONE_SERVER } from '../../../bench/scale/design.ts';
import { dailyCycle, runSeconds } from '../../../bench/scale/distributions.ts';
import { loopShare } from '../../../bench/scale/resources.ts';
import { Site } from '../../../bench/scale/site.ts';
import { Station } from '../../../bench/scale/station.ts';

test('what is due first happens first, and of one instant what was asked for first', () => {
  const clock = new Clock();
  const random = randomFrom(7);
  const times = Array.from({ length: 2_000 }, () => Math.floor(random() * 500));
  const seen: { readonly time: number; readonly index: number }[] = [];
  for (const [index, time] of times.entries()) clock.at(time, () => seen.push({ time: clock.now, index }));
  clock.run();
  const expected = times
    .map((time, index) => ({ time, index }))
    .toSorted((a, b) => a.time - b.time || a.index - b.index);
  assert.deepEqual(seen, expected);
});

test('customers of one server stay as long as the formulas for M/M/1 and M/D/1 say', () => {
  for (const { name, simulated, formula } of checkFormulas()) {
    assert.ok(Math.abs(simulated / formula - 1) < 0.05, `${name}: ${simulated} instead of ${formula}`);
  }
});

test('a server with several places starts what waits when a place is free, in the order of arrival', () => {
  const clock = new Clock();
  const station = new Station(clock, 2);
  const ends: string[] = [];
  for (const [name, work] of [
    ['a', 10],
    ['b', 4],
    ['c', 4],
    ['d', 1],
  ] as const) {
    station.use(work, () => ends.push(`${name} ${clock.now}`));
  }
  clock.run();
  assert.deepEqual(ends, ['b 4', 'c 8', 'd 9', 'a 10']);
});

test('steady work slows a server by its share, and counts as its work', () => {
  const clock = new Clock();
  const station = new Station(clock);
  station.setSteady(0.5);
  let end = 0;
  station.use(1_800_000, () => (end = clock.now));
  clock.run(3_600_000);
  assert.equal(end, 3_600_000);
  assert.equal(station.highestShare, 1);
});

test('run times and the day are those of the model that they are taken from', () => {
  const random = randomFrom(3);
  const times = Array.from({ length: 50_000 }, () => runSeconds(random, false)).toSorted((a, b) => a - b);
  const median = times[times.length >> 1] ?? 0;
  assert.ok(median > 70 && median < 86, `half are below ${median} s`);
  assert.ok((times.at(-1) ?? 0) <= Math.exp(12));
  const cycle = dailyCycle();
  assert.ok(Math.abs(cycle.reduce((sum, slot) => sum + slot, 0) - 1) < 1e-9);
  const busiest = cycle.indexOf(Math.max(...cycle));
  assert.ok(busiest >= 26 && busiest <= 29, `the busiest half hour is ${busiest}`);
});

test('the same seed gives the same day, and more load takes more of everything', () => {
  const calibration = readCalibration();
  const small = { load: 0.02, seed: 5 };
  const [one, again, more] = [small, small, { load: 0.3, seed: 5 }].map(
    (options) => new Site(calibration, ONE_SERVER, options),
  );
  assert.ok(one !== undefined && again !== undefined && more !== undefined);
  assert.equal(one.jobs, again.jobs);
  assert.equal(one.submitMs.quantile(0.99), again.submitMs.quantile(0.99));
  assert.ok(one.jobs > 500 && more.jobs > 5 * one.jobs);
  assert.ok(loopShare(more) > loopShare(one));
});

test('submissions at a steady rate take the share of the event loop that their costs add up to', () => {
  const calibration = readCalibration();
  const { loopShare } = simulateSubmits(calibration, 20);
  const expected = (20 * (calibration.requests.submit.loopMs + calibration.store.commitMs)) / 1000;
  assert.ok(Math.abs(loopShare / expected - 1) < 0.1, `${loopShare} instead of ${expected}`);
});
