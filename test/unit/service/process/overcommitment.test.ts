import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineClass } from '../../../../src/service/config/machineClasses.ts';
import { checkOvercommitment, mostProcesses } from '../../../../src/service/process/overcommitment.ts';

const CLASS: MachineClass = {
  name: 'small',
  description: '',
  cpus: 1,
  memory_gb: 4,
  gpus: 0,
  disk_gb: 10,
  shared: true,
};
const MACHINE = { cpus: 4, memoryGb: 16, gpus: 0, diskGb: 100, processes: 30_000 };
const PLAN = { classes: [CLASS], maxJobs: 4, maxProcesses: 4_096 };

const warningsOf = (...[plan, machine]: Parameters<typeof checkOvercommitment>): readonly string[] =>
  checkOvercommitment(plan, machine).flatMap(({ warning }) => (warning === undefined ? [] : [warning]));

test('jobs that fit the machine together cause no warning', () => {
  assert.deepEqual(warningsOf(PLAN, MACHINE), []);
  assert.deepEqual(warningsOf(PLAN, { ...MACHINE, processes: undefined }), [], 'a limit that is not known');
});

test('each kind that all jobs together could use up is reported once, with figures and what to set', () => {
  const large = { ...CLASS, name: 'large', cpus: 4, memory_gb: 15, gpus: 2, disk_gb: 60 };
  const plan = { classes: [CLASS, large, { ...large, name: 'same' }], maxJobs: 4, maxProcesses: 10_000 };
  assert.deepEqual(warningsOf(plan, { ...MACHINE, memoryGb: 23.5, gpus: 2 }), [
    '4 jobs at once of the machine class large may use 16 cores, and the machine has 4: jobs then share cores, and take longer than the class promises. Set [process] max_jobs to at most 1, or cpus of the class to at most 1.',
    '4 jobs at once of the machine class large may use 60 GB of memory, and the machine has 23.5: the system then stops some of the jobs, or swaps. Set [process] max_jobs to at most 1, or memory_gb of the class to at most 5.8.',
    '4 jobs at once of the machine class large may use 8 GPUs, and the machine has 2: jobs then share GPUs. Set [process] max_jobs to at most 1.',
    '4 jobs at once of the machine class large may use 240 GB of disk, and the machine has 100: a full disk then stops jobs, those with the most files first. Set [process] max_jobs to at most 1, or disk_gb of the class to at most 25.',
    '4 jobs at once of the machine class small may use 40,000 processes, and the machine has 30,000: then no program of the machine can start another one, the service included. Set [process] max_jobs to at most 3, or [process] max_processes to at most 7,500.',
  ]);
});

test('cores, memory and GPUs that jobs reserve cannot be used up', () => {
  const large = { ...CLASS, cpus: 4, memory_gb: 15, gpus: 2, shared: false };
  assert.deepEqual(warningsOf({ ...PLAN, classes: [large] }, MACHINE), []);
});

test('a class without a limit of its disk, and GPUs where there are none, are reported with what to do', () => {
  const { disk_gb: _, ...unlimited } = CLASS;
  assert.deepEqual(warningsOf({ ...PLAN, classes: [unlimited] }, MACHINE), [
    'Nothing limits how many GB of disk a job of the machine class small may use, and the machine has 100: a full disk then stops jobs, those with the most files first. Set disk_gb of the class to at most 25, for 4 jobs at once.',
  ]);
  const [warning = ''] = warningsOf({ ...PLAN, classes: [{ ...CLASS, gpus: 8 }] }, MACHINE);
  assert.match(
    warning,
    /^4 jobs at once of the machine class small may use 32 GPUs, and the machine has 0: .* Lower gpus/,
  );
});

test('the lowest limit of the system counts', { skip: process.platform !== 'linux' }, () => {
  const most = mostProcesses();
  assert.ok(most !== undefined && most > 100, String(most));
});
