import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPartitions } from '../../../../../src/service/slurm/proposal/partitions.ts';
import { proposeClasses, readAssociations } from '../../../../../src/service/slurm/proposal/proposeClasses.ts';

const NONE = { accounts: [], qos: [] };

test('a partition gives a class for a part of a node, and one for a whole node', () => {
  const partitions = readPartitions('long|up|64|257000|(null)|30-00:00:00\nshort*|up|64|257000|(null)|4:00:00\n');
  assert.deepEqual(proposeClasses(partitions, NONE), [
    {
      name: 'short',
      description: 'Partition short, at most 4:00:00',
      partition: 'short',
      cpus: 4,
      memory_gb: 15.6,
      gpus: 0,
    },
    {
      name: 'short-node',
      description: 'Partition short, a whole node, at most 4:00:00',
      partition: 'short',
      cpus: 64,
      memory_gb: 250.9,
      gpus: 0,
    },
    {
      name: 'long',
      description: 'Partition long, at most 30-00:00:00',
      partition: 'long',
      cpus: 4,
      memory_gb: 15.6,
      gpus: 0,
    },
    {
      name: 'long-node',
      description: 'Partition long, a whole node, at most 30-00:00:00',
      partition: 'long',
      cpus: 64,
      memory_gb: 250.9,
      gpus: 0,
    },
  ]);
});

test('a partition with GPUs gives a class for one GPU with its share of processors and memory', () => {
  const [one, node, ...more] = proposeClasses(readPartitions('gpu|up|128|1031000|gpu:a100:8(S:0-7)|7-00:00:00'), NONE);
  assert.deepEqual([one?.gpus, one?.cpus, one?.memory_gb], [1, 16, 125.8]);
  assert.deepEqual([node?.gpus, node?.cpus, node?.memory_gb], [8, 128, 1006.8]);
  assert.equal(one?.description, 'Partition gpu, a100, at most 7-00:00:00');
  assert.deepEqual(more, []);
});

test('classes fit the smallest nodes of a partition', () => {
  const [part, node] = proposeClasses(
    readPartitions('mixed|up|32+|128000+|gpu:v100:2|infinite\nmixed|up|96|64000|gpu:h100:4|infinite'),
    NONE,
  );
  assert.equal(part?.description, 'Partition mixed, v100, h100');
  assert.deepEqual([node?.cpus, node?.memory_gb, node?.gpus], [32, 62.5, 2]);
});

test('small nodes are requested whole, and never more memory than they have', () => {
  const [only, ...more] = proposeClasses(readPartitions('debug|up|2|1|(null)|infinite'), NONE);
  assert.deepEqual([only?.cpus, only?.memory_gb], [2, 1 / 1024]);
  assert.deepEqual(more, []);
});

test('partitions that accept no jobs or have unusual names are left out, as is what is not an answer', () => {
  assert.deepEqual(
    readPartitions('down|down|4|4000|(null)|infinite\nso odd|up|4|4000|(null)|1:00\n\nsinfo: error\n'),
    [],
  );
});

test('who has several accounts or qualities of service may choose among them', () => {
  const partitions = readPartitions('cpu|up|4|4000|(null)|infinite');
  const allowOf = (output: string) => proposeClasses(partitions, readAssociations(output))[0]?.allow;
  assert.deepEqual(allowOf('physics|normal,high\nchemistry|normal\n'), {
    account: ['physics', 'chemistry'],
    qos: ['normal', 'high'],
  });
  assert.equal(allowOf('physics|normal\n'), undefined);
  assert.equal(allowOf(''), undefined);
});
