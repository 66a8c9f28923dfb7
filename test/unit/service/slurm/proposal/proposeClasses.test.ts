import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPartitions } from '../../../../../src/service/slurm/proposal/partitions.ts';
import { readNodeSizes, readPartitionRules } from '../../../../../src/service/slurm/proposal/partitionRules.ts';
import { proposeClasses, readAssociations } from '../../../../../src/service/slurm/proposal/proposeClasses.ts';
import {
  needsParents,
  readParents,
  usablePartitions,
} from '../../../../../src/service/slurm/proposal/usablePartitions.ts';

/** The classes for what sinfo, sacctmgr and scontrol print. */
function propose(sinfo: string, { associations = '', partitions = '', nodes = '', parents = '' } = {}) {
  const known = { rules: readPartitionRules(partitions), sizes: readNodeSizes(nodes), parents: readParents(parents) };
  return proposeClasses(usablePartitions(readPartitions(sinfo), known, readAssociations(associations)));
}

test('a partition gives a class for a part of a node, and one for a whole node', () => {
  const output = 'long|up|64|257000|(null)|30-00:00:00\nshort*|up|64|257000|(null)|4:00:00\n';
  assert.deepEqual(propose(output), [
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
  const [one, node, ...more] = propose('gpu|up|128|1031000|gpu:a100:8(S:0-7)|7-00:00:00');
  assert.deepEqual([one?.gpus, one?.cpus, one?.memory_gb], [1, 16, 125.8]);
  assert.deepEqual([node?.gpus, node?.cpus, node?.memory_gb], [8, 128, 1006.8]);
  assert.equal(one?.description, 'Partition gpu, a100, at most 7-00:00:00');
  assert.deepEqual(more, []);
});

test('classes fit the smallest nodes of a partition', () => {
  const [part, node] = propose('mixed|up|32+|128000+|gpu:v100:2|infinite\nmixed|up|96|64000|gpu:h100:4|infinite');
  assert.equal(part?.description, 'Partition mixed, v100, h100');
  assert.deepEqual([node?.cpus, node?.memory_gb, node?.gpus], [32, 62.5, 2]);
});

test('small nodes are requested whole, and never more memory than they have', () => {
  const [only, ...more] = propose('debug|up|2|1|(null)|infinite');
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
  const allowOf = (associations: string) => propose('cpu|up|4|4000|(null)|infinite', { associations })[0]?.allow;
  assert.deepEqual(allowOf('physics|normal,high\nchemistry|normal\n'), {
    account: ['physics', 'chemistry'],
    qos: ['normal', 'high'],
  });
  assert.equal(allowOf('physics|normal\n'), undefined);
  assert.equal(allowOf(''), undefined);
});

const FREE = 'AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL RootOnly=NO ReqResv=NO MaxMemPerNode=UNLIMITED';

test('a partition that accepts no jobs of the user is not proposed', () => {
  const barred = ['AllowAccounts=chem', 'DenyAccounts=Physics,bio', 'AllowQos=high', 'DenyQos=normal,low'];
  const rules = [...barred, 'RootOnly=YES', 'ReqResv=YES'].map((rule) => `${rule} ${FREE}`);
  const names = ['free', ...rules.map((_, index) => `p${index}`)];
  const partitions = [FREE, ...rules].map((rule, index) => `PartitionName=${names[index]} ${rule} Nodes=n1`).join('\n');
  const sinfo = names.map((name) => `${name}|up|4|4000|(null)|infinite`).join('\n');
  const offered = propose(sinfo, { partitions, associations: 'physics|normal\n' });
  assert.deepEqual(
    offered.map(({ name }) => name),
    ['free'],
  );
  // An account that is not known cannot be one of those that a partition allows. Without accounting, no quality of service is checked.
  assert.deepEqual(
    propose(sinfo, { partitions }).map(({ name }) => name),
    ['free', 'p1', 'p2', 'p3'],
  );
});

test('where only some accounts of the user are permitted, jobs use the first of them and may choose the others', () => {
  const partitions = 'PartitionName=gpu AllowAccounts=bio,Chem,art AllowQos=high';
  const [one] = propose('gpu|up|4|4000|(null)|infinite', {
    partitions,
    associations: 'physics|normal,high\nchem|normal\nbio|normal',
  });
  assert.deepEqual([one?.sbatch, one?.allow], [['--account=chem', '--qos=high'], { account: ['chem', 'bio'] }]);
  const [all] = propose('gpu|up|4|4000|(null)|infinite', { partitions, associations: 'chem|high' });
  assert.deepEqual([all?.sbatch, all?.allow], [undefined, undefined]);
});

test('an account below one that a partition allows may use it', () => {
  const partitions = 'PartitionName=gpu AllowAccounts=Physics';
  const offer = (parents: string) =>
    propose('gpu|up|4|4000|(null)|1:00', { partitions, associations: 'optics|', parents });
  assert.equal(offer('physics|root\noptics|lasers\nlasers|physics\noptics|\n').length, 1);
  assert.deepEqual(offer('optics|chem\nchem|root'), []);
  assert.deepEqual(offer('optics|lasers\nlasers|optics'), [], 'a circle ends');
  const rules = readPartitionRules(partitions);
  assert.equal(needsParents(rules, { accounts: ['physics', 'optics'], qos: [] }), true);
  assert.equal(needsParents(rules, { accounts: ['PHYSICS'], qos: [] }), false);
  assert.equal(
    needsParents(readPartitionRules('PartitionName=cpu AllowAccounts=ALL'), { accounts: ['a'], qos: [] }),
    false,
  );
});

test('what nodes reserve for their system is in no class, and a limit of the partition holds', () => {
  const node = (more: string): string =>
    `NodeName=n CPUTot=64 RealMemory=257000 ThreadsPerCore=2 Partitions=cpu,gpu ${more}`;
  const nodes = [
    node(''),
    node('CPUEfctv=60 CoreSpecCount=2 MemSpecLimit=1000'),
    node('Reason=MemSpecLimit=9 x CPUEfctv=1 y'),
  ];
  const sizeOf = (given: Parameters<typeof propose>[1], name = 'cpu') => {
    const last = propose(`${name}|up|64|257000|(null)|infinite`, given).at(-1);
    return [last?.cpus, last?.memory_gb, last?.description];
  };
  const whole = 'Partition cpu, a whole node';
  assert.deepEqual(sizeOf({ nodes: nodes.slice(0, 2).join('\n') }), [60, 250, whole]);
  assert.deepEqual(sizeOf({ nodes: node('CoreSpecCount=1') }), [62, 250.9, whole]);
  assert.deepEqual(sizeOf({ nodes: node('CPUEfctv=0') }), [undefined, undefined, undefined]);
  assert.deepEqual(sizeOf({ nodes: node('MemSpecLimit=257000') }), [undefined, undefined, undefined]);
  assert.deepEqual(sizeOf({ nodes: nodes[1] ?? '' }, 'other'), [64, 250.9, 'Partition other, a whole node']);
  const partitions = 'PartitionName=cpu MaxCPUsPerNode=32 MaxMemPerNode=64000';
  assert.deepEqual(sizeOf({ partitions }), [32, 62.5, 'Partition cpu, as much of a node as a job may have']);
});

test('hostile answers give only classes that the configuration accepts, each once, and few of them', () => {
  const huge = '9'.repeat(400);
  const sinfo = [
    'a|up|64|64000|(null)|infinite',
    'a-node|up|64|64000|(null)|infinite',
    `${'n'.repeat(64)}|up|64|64000|(null)|infinite`,
    `${'n'.repeat(65)}|up|64|64000|(null)|infinite`,
    `big|up|${huge}|${huge}|gpu:x:${huge}|${'1'.repeat(5_000)}`,
    `gpus|up|4|4000|${Array.from({ length: 5_000 }, (_, index) => `gpu:type${index}:999`).join()}|1:00`,
    'e\u001b[2J|up|4|4000|(null)|1:00',
    'q"]\n[slurm]\nfolder = "/|up|4|4000|(null)|1:00',
    ...Array.from({ length: 50_000 }, (_, index) => `p${index}|up|4|4000|(null)|infinite`),
  ].join('\n');
  const associations = Array.from({ length: 50_000 }, (_, index) => `account${index}|q"\u001b[2J${index},ok${index}`);
  const classes = propose(sinfo, { associations: associations.join('\n'), partitions: sinfo, nodes: sinfo });
  const names = classes.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length > 20 && names.length <= 40);
  assert.deepEqual(names.slice(0, 5), ['a', 'a-node', 'a-node-node', 'n'.repeat(64), 'gpus']);
  assert.ok(classes.every(({ description, allow }) => description.length < 200 && (allow?.account?.length ?? 0) <= 50));
});
