import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dismantled, greeting, isNewerVersion } from '../../../../src/remote/protocol/machineLink.ts';

test('versions are compared by their numbers, from the first on', () => {
  for (const [version, than] of [
    ['0.1.1', '0.1.0'],
    ['0.2.0', '0.1.9'],
    ['1.0.0', '0.9.9'],
    ['0.10.0', '0.9.0'],
    ['2.0.0-beta', '1.9.9'],
    ['1.2.4+build', '1.2.3'],
  ] as const) {
    assert.deepEqual([isNewerVersion(version, than), isNewerVersion(than, version)], [true, false], version);
  }
  for (const same of ['0.1.0', '0.1.0-beta', '0.1.0+7', '0.1.0.9']) {
    assert.deepEqual([isNewerVersion(same, '0.1.0'), isNewerVersion('0.1.0', same)], [false, false], same);
  }
  for (const text of ['', 'x', '1']) assert.equal(isNewerVersion(text, '9.0.0'), false, text);
});

test('a machine greets with how to reach its service, or with why that is not possible', () => {
  const fine = { key: 'k', version: '0.1.0', executor: 'local' };
  assert.deepEqual(greeting.parse(fine), fine);
  assert.deepEqual(greeting.parse({ error: 'no space' }), { error: 'no space' });
  for (const other of [
    {},
    { ...fine, key: '' },
    { key: 'k', version: '1' },
    { key: 'k', executor: 'x' },
    { error: 5 },
  ]) {
    assert.equal(greeting.safeParse(other).success, false, JSON.stringify(other));
  }
});

test('a machine that is disconnected says how many jobs have not ended, or why it is not', () => {
  assert.deepEqual(dismantled.parse({ unfinished: 0 }), { unfinished: 0 });
  assert.deepEqual(dismantled.parse({ error: 'busy' }), { error: 'busy' });
  for (const other of [{}, { unfinished: 1.5 }, { unfinished: '0' }])
    assert.equal(dismantled.safeParse(other).success, false);
});
