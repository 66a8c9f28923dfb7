import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeOffer } from '../../../src/machines/install/configureCluster.ts';

const offered = (name: string, gpus = 0) => ({
  name,
  description: `Partition ${name}`,
  cpus: 4,
  memory_gb: 15.6,
  gpus,
});

test('what a login node offers is a line for each machine class, without what could disturb a terminal or a dialog', () => {
  assert.deepEqual(describeOffer([offered('short'), offered('gpu', 1)]), [
    'short: 4 cores, 15.6 GB. Partition short',
    'gpu: 4 cores, 15.6 GB, 1 GPU. Partition gpu',
  ]);
  assert.deepEqual(describeOffer([offered('a\u001b[2J\nb')]), ['a b: 4 cores, 15.6 GB. Partition a b']);
});

test('of many machine classes, the first are shown and the others counted', () => {
  const many = Array.from({ length: 40 }, (_, index) => offered(`p${index}`));
  const lines = describeOffer(many, 12);
  assert.equal(lines.length, 13);
  assert.equal(lines.at(-1), 'and 28 more');
  assert.equal(describeOffer(many).length, 40);
  assert.equal(describeOffer(many.slice(0, 12), 12).length, 12);
});
