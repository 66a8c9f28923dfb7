// How long the service takes to decide which of many queued jobs starts when one has ended, and what the others wait for.
import { type MachineClass, MachineClasses } from '../src/service/config/machineClasses.ts';
import { JobQueue } from '../src/service/jobs/jobQueue.ts';
import { NO_LOCKS } from '../src/service/placement/gpuLocks.ts';
import { Reservations } from '../src/service/placement/reservations.ts';
import { seeded } from '../test/random.ts';

const ROUNDS = 200;
const GPUS = Array.from({ length: 8 }, (_, index) => String(index));
const CLASSES: readonly [MachineClass, ...MachineClass[]] = [
  { name: 'cpu', description: '', cpus: 4, memory_gb: 8, gpus: 0 },
  { name: 'gpu', description: '', cpus: 8, memory_gb: 32, gpus: 1 },
  { name: 'half', description: '', cpus: 32, memory_gb: 128, gpus: 4 },
  { name: 'node', description: '', cpus: 64, memory_gb: 256, gpus: 8 },
];

for (const [jobs, accounts] of [
  [1_000, 1],
  [1_000, 50],
  [10_000, 50],
] as const) {
  const below = seeded(jobs + accounts);
  const queue = new JobQueue();
  for (let number = 0; number < jobs; number += 1) {
    const machineClass = CLASSES[below(CLASSES.length)]?.name ?? '';
    queue.add({ id: `j${number}`, account: `account${below(accounts)}`, machineClass, maxRuntime: 60 + below(86_400) });
  }
  const known = {
    type: 'known',
    gpus: GPUS.map((id) => ({ id, lock: id, vendor: undefined, index: id, uuid: undefined, nodes: [] })),
  } as const;
  const reservations = new Reservations({
    size: { jobs: 64, cpus: 64, memoryGb: 256 },
    memory: { unused: () => 256, keptFree: 0.5 },
    machineClasses: new MachineClasses(CLASSES),
    gpus: () => known,
    locks: NO_LOCKS,
  });
  const running: { readonly id: string; readonly account: string }[] = [];
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    const { starts, first } = reservations.place(() => queue.order(() => Number.POSITIVE_INFINITY));
    queue.keepFirst(first);
    for (const job of starts) queue.start(job);
    times.push(performance.now() - started);
    for (const job of starts) {
      queue.noteAtWork(job.account);
      running.push(job);
    }
    const [ended] = running.splice(below(running.length), 1);
    if (ended !== undefined) {
      reservations.release(ended.id);
      queue.release(ended.account);
    }
  }
  times.sort((a, b) => a - b);
  const at = (part: number): string => (times[Math.floor(part * (times.length - 1))] ?? 0).toFixed(2);
  const who = `${jobs.toLocaleString('en')} queued jobs of ${accounts} accounts`;
  process.stdout.write(
    `${who.padEnd(36)} median ${at(0.5)} ms, 95 % ${at(0.95)} ms, 99 % ${at(0.99)} ms, highest ${at(1)} ms\n`,
  );
}
