// What a job service costs a cluster: the same small jobs through the service with the executor `slurm` and through plain `sbatch`,
// in turns on the same private cluster. A plain job is the script alone, written to where the service would put it, with the
// same request for resources; a job of the service is packed, uploaded, checked, recorded, followed, and its results are packed.
// Usage: node bench/slurm.ts [jobs] [seconds of each job] [rounds]
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { AsyncDisposableStore } from '../src/core/processes/lifetime.ts';
import { build } from '../scripts/build.ts';
import type { LoadClient } from '../scripts/load/client.ts';
import { slurmSite } from '../scripts/load/stormRun.ts';
import { type SlurmCluster, startCluster } from '../scripts/slurm/cluster.ts';
import { makeArchive } from '../test/service/support/archive.ts';

const JOBS = Number(process.argv[2] ?? 60);
const SECONDS = Number(process.argv[3] ?? 1);
const ROUNDS = Number(process.argv[4] ?? 3);
const TARGET = 0.9;
const SENDERS = 4;
// Asking costs both sides about the same, and the same machine runs the jobs.
const POLL_MS = 500;
const SCRIPT = `#!/bin/bash\necho started\nsleep ${SECONDS}\necho done\n`;

const run = promisify(execFile);
const { signal } = new AbortController();

interface Round {
  /** Seconds from the first submission to the last end. */
  readonly seconds: number;
  readonly submitSeconds: number;
}

async function runPlain(cluster: SlurmCluster, folder: string): Promise<Round> {
  const started = performance.now();
  for (let job = 0; job < JOBS; job += 1) {
    const path = join(folder, String(job));
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'job.sh'), SCRIPT, { mode: 0o700 });
    const partition = job % 2 === 0 ? 'cpu-small' : 'cpu-large';
    const options = ['--parsable', '--no-requeue', `--chdir=${path}`, `--output=${path}/output.log`, '--time=3'];
    const request = ['--nodes=1', '--ntasks=1', '--cpus-per-task=1', '--mem=256M', `--partition=${partition}`];
    await run('sbatch', [...options, ...request, join(path, 'job.sh')], { env: { ...process.env, ...cluster.env } });
  }
  const submitted = performance.now();
  while ((await cluster.command('squeue', '-h', '-o', '%i')) !== '') await sleep(POLL_MS);
  const ended = performance.now();
  return { seconds: (ended - started) / 1000, submitSeconds: (submitted - started) / 1000 };
}

async function runService(client: LoadClient): Promise<Round> {
  const started = performance.now();
  const archive = await makeArchive({ 'job.sh': SCRIPT });
  const ids = new Set<string>();
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < JOBS) {
      const job = next;
      next += 1;
      const meta = { max_runtime: 60, machine_class: job % 2 === 0 ? 'small' : 'large' };
      ids.add(await client.submit(archive, meta, { key: `${started}-${job}`, signal }));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  const submitted = performance.now();
  for (;;) {
    const jobs = (await client.jobs(signal)).filter(({ job_id: id }) => ids.has(id));
    const bad = jobs.find(({ state }) => !['queued', 'starting', 'running', 'succeeded'].includes(state));
    if (bad !== undefined) throw new Error(`A job has ${bad.state}: ${bad.reason}`);
    if (jobs.filter(({ state }) => state === 'succeeded').length === JOBS) break;
    await sleep(POLL_MS);
  }
  return { seconds: (performance.now() - started) / 1000, submitSeconds: (submitted - started) / 1000 };
}

build();
const folder = await mkdtemp(join(tmpdir(), 'farwharf-slurm-'));
await using ended = new AsyncDisposableStore();
ended.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
const cluster = ended.use(await startCluster(join(folder, 'cluster')));
const program = resolve(import.meta.dirname, '../dist/cli.mjs');
const { site } = slurmSite({ folder: join(folder, 'service'), program }, cluster);
ended.defer(() => site.end('SIGTERM'));
site.start();
const client = await site.client(signal);

const print = (cells: readonly string[]): void => {
  process.stdout.write(`${cells.map((cell, i) => (i === 0 ? cell.padEnd(24) : cell.padStart(14))).join('')}\n`);
};
print([`${JOBS} jobs of ${SECONDS} s`, 'plain sbatch', 'service', 'ratio']);
const ratios: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const plain = await runPlain(cluster, join(folder, `plain-${round}`));
  const service = await runService(client);
  const ratio = plain.seconds / service.seconds;
  ratios.push(ratio);
  const rate = ({ seconds }: Round): string => `${(JOBS / seconds).toFixed(2)} jobs/s`;
  print([`round ${round + 1}`, rate(plain), rate(service), ratio.toFixed(2)]);
  print(['  submitted in', `${plain.submitSeconds.toFixed(1)} s`, `${service.submitSeconds.toFixed(1)} s`]);
}
const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
const isGood = median >= TARGET;
print(['median', '', '', median.toFixed(2), `${isGood ? 'ok' : 'FAILED'} (target >= ${TARGET})`]);
process.exitCode = isGood ? 0 : 1;
