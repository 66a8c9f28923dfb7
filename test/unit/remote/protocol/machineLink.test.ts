import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterOffer, dismantled, greeting, isNewerVersion } from '../../../../src/remote/protocol/machineLink.ts';

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

test('a login node offers at most 100 classes with short texts, or says why it cannot', () => {
  const text = 'x'.repeat(300);
  const offered = { name: text, description: text, cpus: 8, memory_gb: 0.5, gpus: 0 };
  const many = (length: number): object[] => Array.from({ length }, () => offered);
  const isOffer = (...classes: readonly object[]): boolean => clusterOffer.safeParse({ classes }).success;
  assert.deepEqual(clusterOffer.parse({ classes: [offered] }), { classes: [offered] });
  assert.deepEqual(clusterOffer.parse({ error: 'no Slurm' }), { error: 'no Slurm' });
  assert.deepEqual([isOffer(), isOffer({ ...offered, name: '', description: '' })], [true, true]);
  assert.deepEqual([isOffer(...many(100)), isOffer(...many(101))], [true, false]);
  for (const field of Object.keys(offered)) assert.equal(isOffer({ ...offered, [field]: null }), false, field);
  for (const field of ['name', 'description']) assert.equal(isOffer({ ...offered, [field]: `${text}x` }), false, field);
});
