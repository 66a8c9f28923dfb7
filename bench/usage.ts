// What a job's runner measures of a job with a known load (1.5 cores and 700 MB), against what getrusage(2) reports to the job itself, and
// what the measuring costs: for that job, and for one of 200 processes. Fails above 3 % of error or 1 % of a core.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageEventData } from '../src/remote/protocol/schemas.ts';
import { sampleUsage } from '../src/service/runner/usage/sampleUsage.ts';

const SECONDS = 20;
const BYTES = 700e6;
const MAX_ERROR = 0.03;
const MAX_COST = 0.01;
const PROCESSES = 200;

const LOAD = `
  const { readFileSync } = require('node:fs');
  const { Worker } = require('node:worker_threads');
  const anonymous = () => 1024 * Number(/RssAnon:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  const spin = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
  new Worker("const spin = " + spin + "; setInterval(() => spin(50), 100);", { eval: true });
  const before = anonymous();
  const memory = Buffer.alloc(${BYTES}, 1);
  const since = process.hrtime.bigint();
  const start = process.cpuUsage();
  setInterval(() => spin(100), 1);
  console.log('ready');
  process.stdin.once('data', () => {
    const { user, system } = process.cpuUsage(start);
    const cores = (user + system) / 1e6 / (Number(process.hrtime.bigint() - since) / 1e9);
    console.log(JSON.stringify({ cores, bytes: before + memory.length }));
    process.exit();
  });
`;
const MANY = `
  const { spawn } = require('node:child_process');
  for (let count = 0; count < ${PROCESSES}; count += 1) spawn('sleep', ['600'], { stdio: 'ignore' });
  console.log('ready');
`;

/** Samples a job for some seconds. Returns its reports, and the part of a core that this process used. */
async function sample(
  job: ChildProcess,
): Promise<{ readonly reports: readonly UsageEventData[]; readonly cost: number }> {
  const reports: UsageEventData[] = [];
  const ended = new AbortController();
  const before = process.cpuUsage();
  const started = performance.now();
  const sampling = sampleUsage(
    () => [job.pid ?? 0],
    undefined,
    (usage) => reports.push(usage),
    ended.signal,
  );
  await sleep(1000 * SECONDS);
  ended.abort();
  await sampling;
  const { user, system } = process.cpuUsage(before);
  return { reports, cost: (user + system) / 1000 / (performance.now() - started) };
}

/** Starts a program, and waits until it prints that it is ready. */
async function start(program: string): Promise<ChildProcessByStdio<Writable, Readable, null>> {
  const job = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  await once(job.stdout, 'data');
  return job;
}

const percent = (part: number): string => `${(100 * part).toFixed(2)} %`;

const load = await start(LOAD);
const known = await sample(load);
load.stdin.write('end');
const own = JSON.parse(String((await once(load.stdout, 'data'))[0])) as {
  cores: number;
  bytes: number;
};
// The first report includes the start of the program.
const steady = known.reports.slice(1);
const cores = steady.reduce((sum, { cpu_cores: each = 0 }) => sum + each, 0) / steady.length;
const bytes = Math.max(...steady.map(({ memory_bytes: each = 0 }) => each));
const cpuError = Math.abs(cores / own.cores - 1);
const memoryError = Math.abs(bytes / own.bytes - 1);

const many = await start(MANY);
const { cost: costOfMany } = await sample(many);
if (many.pid !== undefined) process.kill(-many.pid, 'SIGKILL');

process.stdout.write(
  `CPU      ${cores.toFixed(3)} cores measured, ${own.cores.toFixed(3)} by getrusage: ${percent(cpuError)} apart\n`,
);
process.stdout.write(
  `memory   ${(bytes / 1e6).toFixed(1)} MB measured, ${(own.bytes / 1e6).toFixed(1)} MB known: ${percent(memoryError)} apart\n`,
);
process.stdout.write(`cost     ${percent(known.cost)} of a core; ${percent(costOfMany)} for ${PROCESSES} processes\n`);
process.exitCode =
  cpuError <= MAX_ERROR && memoryError <= MAX_ERROR && Math.max(known.cost, costOfMany) <= MAX_COST ? 0 : 1;
