// Keeps a job service under a steady load of submissions, readers, cancellations, downloads and listings, and shows whether its
// memory and its open files stay as they are. Linux only.
// Usage: node scripts/load/hour.ts [--minutes 60] [--executor process|slurm|both]; Ctrl+C ends it early, with its report.
import { mkdtemp, rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AsyncDisposableStore } from '../../src/core/processes/lifetime.ts';
import { build } from '../build.ts';
import { startCluster } from '../slurm/cluster.ts';
import { Load } from './load.ts';
import { randomFrom } from '../../test/random.ts';
import { type Sample, slopePerHour, takeSample } from './sample.ts';
import { processSite, slurmSite, type StormSite } from './stormRun.ts';
import { judge } from './verdict.ts';
import { Witness } from './witness.ts';

const EVERY_MS = 10_000;
const ROWS = 30;
// Caches fill and code is compiled in the beginning.
const WARM_UP = 0.2;
const LOAD = { senders: 1, readers: 3, pauseMs: 2_500, maxUnfinished: 30 };

const { values: flags } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, executor: { type: 'string', default: 'both' } },
});
const minutes = Number(flags.minutes);
const executors = flags.executor === 'both' ? ['process', 'slurm'] : [flags.executor];
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
setPriority(10); // others may need the machine meanwhile

build();
const program = resolve(import.meta.dirname, '../../dist/cli.mjs');
const folder = await mkdtemp(join(tmpdir(), 'farwharf-hour-'));
await using ended = new AsyncDisposableStore();
ended.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
const cluster = executors.includes('slurm') ? ended.use(await startCluster(join(folder, 'cluster'))) : undefined;
const faults = await Promise.all(
  executors.map((name) => {
    const options = { folder: join(folder, name), program };
    return runHour(name === 'slurm' && cluster !== undefined ? slurmSite(options, cluster) : processSite(options));
  }),
);
process.exitCode = faults.flat().length === 0 ? 0 : 1;

/** Returns the faults that were found at the end. */
async function runHour({ site, machineClasses }: StormSite): Promise<readonly string[]> {
  await using witness = await Witness.start();
  const load = new Load({ ...LOAD, site, witness, machineClasses, random: randomFrom(1) });
  const end = new AbortController();
  const samples: Sample[] = [];
  site.start();
  try {
    const client = await site.client(end.signal);
    const running = load.run(end.signal);
    const started = performance.now();
    print(`${site.name}: minutes, RSS MB, heap MB, descriptors, jobs, events, store MB`);
    for (let passed = 0; passed < minutes && !stop.signal.aborted; passed = (performance.now() - started) / 60_000) {
      const sample = await takeSample(site, client, passed, end.signal);
      const rows = (at: number): number => Math.floor((at / minutes) * ROWS);
      if (rows(sample.minutes) > rows(samples.at(-1)?.minutes ?? -minutes)) print(`${site.name}: ${row(sample)}`);
      samples.push(sample);
      await sleep(EVERY_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
    end.abort();
    await running;
    const { faults, jobs, ledgerError } = await judge(site, load, witness, new AbortController().signal);
    report(site.name, samples, [
      `${jobs} jobs, ${Object.entries(load.counts)
        .map(([what, count]) => `${what} ${count}`)
        .join(', ')}`,
      `ledger error ${ledgerError} micro-credits, faults ${faults.length}`,
      ...faults.slice(0, 20),
    ]);
    return faults;
  } finally {
    end.abort();
    await site.end('SIGKILL').catch(() => {}); // it ended by itself, which the caller is about to learn
  }
}

function report(name: string, samples: readonly Sample[], more: readonly string[]): void {
  const warmUp = (samples.at(-1)?.minutes ?? 0) * WARM_UP;
  const warm = samples.filter((sample) => sample.minutes >= warmUp);
  const per = (figure: (sample: Sample) => number): string => slopePerHour(warm, figure).toFixed(2).padStart(8);
  print(`\n== ${name}: growth in an hour, from ${warm.length} samples after ${warmUp.toFixed(0)} minutes`);
  print(`RSS            ${per(({ rssMb }) => rssMb)} MB`);
  print(`heap           ${per(({ heapMb }) => heapMb)} MB`);
  print(`descriptors    ${per(({ descriptors }) => descriptors)}`);
  print(
    `highest RSS    ${Math.max(...samples.map(({ rssMb }) => rssMb))
      .toFixed(0)
      .padStart(5)} MB`,
  );
  for (const line of more) print(line);
}

function row({ minutes: at, rssMb, heapMb, descriptors, jobs, events, storeMb }: Sample): string {
  const figures = [at.toFixed(1), rssMb.toFixed(1), heapMb.toFixed(1), descriptors, jobs, events, storeMb.toFixed(1)];
  return figures.map((figure) => String(figure).padStart(7)).join(' ');
}
