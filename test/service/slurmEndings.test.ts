import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SlurmCluster } from '../../scripts/slurm/cluster.ts';
import { isFinalState } from '../../src/remote/protocol/states.ts';
import { GATE, openGate } from './support/gate.ts';
import { type JobBody, type ServiceClient, startService, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { describeOnCluster, machineClass, onCluster, SLURM_CONFIG } from './support/slurm.ts';

const CPUS = 16;
const POLL_MS = 150;
const PRICE = { credits_per_minute: 0.6 };
const on = (node: string) => ({ ...PRICE, partition: 'cpu-small', sbatch: [`--nodelist=${node}`] });
const CONFIG = {
  ...SLURM_CONFIG,
  machine_classes: [
    machineClass('large', { ...PRICE, partition: 'cpu-large' }),
    machineClass('spare', { ...PRICE, partition: 'cpu-spare' }),
    machineClass('small1', on('small1')),
    // All of a node, so that it waits for what runs there.
    machineClass('small1-whole', { ...on('small1'), cpus: CPUS }),
    machineClass('small2', on('small2')),
  ],
};

/** What a script can do with the signal that asks it to stop. */
const LEAVES = 'echo begun; sleep 600';
const EXITS_WITH_0 = "trap 'exit 0' TERM; echo begun; for i in $(seq 6000); do sleep 0.1; done";
const IGNORES = "trap '' TERM; echo begun; for i in $(seq 6000); do sleep 0.1; done";
const SIGNALS: readonly [string, string][] = [
  ['leaves SIGTERM as it is', LEAVES],
  ['exits with 0 at SIGTERM', EXITS_WITH_0],
  ['ignores SIGTERM', IGNORES],
];
const FINISHES = `echo begun; ${GATE}; echo done`;
const ALLOCATES = `echo begun; ${GATE}; ${process.execPath} -e 'setInterval(() => {}, 1000); globalThis.held = Buffer.alloc(900e6, 1)'; sleep 600`;

interface Row {
  readonly event: string;
  /** What is special about the script. */
  readonly does?: string;
  readonly script: string;
  readonly machine: string;
  readonly maxRuntime?: number;
  /** Whether the job waits in the cluster when everything happens. */
  readonly isWaiting?: true;
  /** What the site does to the job. */
  readonly act?: (cluster: SlurmCluster, id: string) => Promise<unknown>;
  /** The reason that a waiting job shows before the site repairs everything. */
  readonly waits?: RegExp;
  readonly state: string;
  readonly reason: RegExp | null;
  readonly exitCode: number | null;
  readonly isCharged: boolean;
}

const NOT_ITS_FAULT = { state: 'failed', exitCode: null, isCharged: false } as const;
const SUCCEEDS = { state: 'succeeded', reason: null, exitCode: 0, isCharged: true } as const;

async function requeue(cluster: SlurmCluster, id: string, verb = 'requeue'): Promise<string> {
  const number = (await cluster.command('squeue', '-h', `--name=${id}`, '-o', '%i')).trim();
  // The service submits with --no-requeue, which an administrator can change.
  await cluster.command('scontrol', 'update', `JobId=${number}`, 'Requeue=1');
  await cluster.command('scontrol', verb, number);
  return number;
}

/** A script whose second run ends at once. The first leaves a mark in the shared folder, as its own is made anew. */
function runsTwice(script: string): string {
  const mark = '"../../../ran-$(basename "$(dirname "$PWD")")"';
  return `[ -e left ] && exit 9; echo first > left; if [ -e ${mark} ]; then echo again; exit; fi; touch ${mark}; ${script}`;
}

/** Puts a job back into the queue, and lets it start again at once instead of after two minutes. */
async function restart(cluster: SlurmCluster, id: string): Promise<void> {
  const number = await requeue(cluster, id);
  // A service that follows the job removes it from the queue.
  while ((await cluster.command('squeue', '-h', '-t', 'RUNNING,COMPLETING', '-o', '%i')).split('\n').includes(number)) {
    await sleep(POLL_MS);
  }
  await cluster.command('scontrol', 'update', `JobId=${number}`, 'StartTime=now').catch(() => {});
}

const TABLE: readonly Row[] = [
  ...SIGNALS.map(([does, script]) => ({
    event: 'preempted',
    does,
    script,
    machine: 'spare',
    ...NOT_ITS_FAULT,
    reason: /took large1 away \(PREEMPTED.*submit it again.*Nothing was charged\.$/,
  })),
  ...SIGNALS.map(([does, script]) => ({
    event: 'node set down',
    does,
    script,
    machine: 'small2',
    ...NOT_ITS_FAULT,
    reason: /took small2 away \(NODE_FAIL.*submit it again.*Nothing was charged\.$/,
  })),
  ...SIGNALS.map(([does, script]) => ({
    event: 'requeued by the site',
    does,
    script: runsTwice(script),
    machine: 'large',
    act: requeue,
    ...SUCCEEDS,
  })),
  {
    event: 'requeued by the site',
    does: 'held then',
    script: runsTwice(LEAVES),
    machine: 'large',
    act: (cluster, id) => requeue(cluster, id, 'requeuehold'),
    ...SUCCEEDS,
  },
  {
    event: 'requeued by the site',
    does: 'started again',
    script: runsTwice(LEAVES),
    machine: 'large',
    act: restart,
    ...SUCCEEDS,
  },
  { event: 'node drained', does: 'runs', script: FINISHES, machine: 'small1', ...SUCCEEDS },
  {
    event: 'node drained',
    does: 'waits for it',
    script: 'echo ran',
    machine: 'small1-whole',
    isWaiting: true,
    waits: /^Waiting in the cluster: .*(Resources|Priority|ReqNodeNotAvail|DRAINED)/,
    ...SUCCEEDS,
  },
  {
    event: 'held',
    script: 'echo ran',
    machine: 'small1-whole',
    isWaiting: true,
    act: (cluster, id) => cluster.command('scontrol', 'hold', `JobName=${id}`),
    waits: /^Held in the cluster \(JobHeldAdmin\)/,
    ...SUCCEEDS,
  },
  {
    event: 'out of memory',
    script: ALLOCATES,
    machine: 'large',
    state: 'failed',
    reason: /^The job ran out of memory on large1\. Choose a machine class with more memory\./,
    exitCode: null,
    isCharged: true,
  },
  {
    event: 'its time limit',
    does: 'exits with 0 at SIGTERM',
    script: EXITS_WITH_0,
    machine: 'small1',
    maxRuntime: 5,
    state: 'timed_out',
    reason: null,
    exitCode: null,
    isCharged: true,
  },
  {
    event: "the cluster's time limit",
    does: 'exits with 0 at SIGTERM',
    script: EXITS_WITH_0,
    machine: 'large',
    // Not `now`, which the controller refuses once it has become the past.
    act: (cluster, id) => cluster.command('scontrol', 'update', `JobName=${id}`, 'EndTime=now+5'),
    state: 'timed_out',
    reason: /^The cluster stopped the job at its time limit/,
    exitCode: null,
    isCharged: true,
  },
  {
    event: 'cancelled by the site',
    does: 'exits with 0 at SIGTERM',
    script: EXITS_WITH_0,
    machine: 'large',
    act: (cluster, id) => cluster.command('scancel', `--name=${id}`),
    state: 'cancelled',
    reason: /cancelled by the cluster or its administrators.*Nothing was charged\.$/,
    exitCode: null,
    isCharged: false,
  },
  { event: 'controller away', does: 'runs', script: FINISHES, machine: 'large', ...SUCCEEDS },
];

await describeOnCluster(
  'what becomes of jobs that something happens to',
  (cluster) => {
    for (const isKilled of [false, true]) {
      const title = isKilled ? 'while the service is dead' : 'while the service follows them';
      test(`everything happens at once, ${title}: state, reason and charge are those of the table`, async (t) => {
        const { data, config } = onCluster(cluster(), CONFIG);
        const home = await temporaryFolder(t);
        let service = await ServiceProcess.start(home, { data, config });
        t.after(() => service.end('SIGKILL'));
        const jobs = await submitAll(service.client);
        if (isKilled) await service.end('SIGKILL');
        await happen(cluster(), data, jobs);
        await cluster().end('slurmctld');
        if (isKilled) service = await ServiceProcess.start(home, { data, config, apiKey: service.client.key });
        const { client } = service;
        const waiting = jobs.filter(({ row }) => row.isWaiting);
        for (const { id } of waiting)
          await untilReason(client, id, /^The cluster (has not answered since|does not answer)/);
        cluster().restart('slurmctld');
        for (const { id, row } of waiting) await untilReason(client, id, row.waits ?? /./);
        // The site repairs its nodes and releases what it held.
        await cluster().untilReady();
        for (const { id, row } of jobs) {
          if (row.event === 'held') await cluster().command('scontrol', 'release', `JobName=${id}`);
          if (row.script === FINISHES) await openGate(data, id);
        }
        const seen: EndedRow[] = [];
        for (const { id, row } of jobs)
          seen.push({ id, row, job: await untilJob(client, id, ({ state }) => isFinalState(state)) });
        t.diagnostic(`\n${tableOf(seen)}`);
        for (const { row, job } of seen) assertRow(row, job);
        const charged = seen.reduce((sum, { job }) => sum + (job.credits_charged ?? Number.NaN), 0);
        assert.ok(Math.abs((await client.credits()) - (1000 - charged)) < 1e-6, 'nothing is held or charged twice');
        const queue = (): Promise<string> => cluster().command('squeue', '-h', '-t', 'PENDING,RUNNING', '-o', '%j');
        for (const { id } of jobs) while ((await queue()).includes(id)) await sleep(50);
      });
    }

    test('a job that ends itself by a signal is charged, and its own end stands', async (t) => {
      const service = await startService(t, onCluster(cluster(), CONFIG));
      for (const signal of ['TERM', 'KILL']) {
        const script = `echo begun; sleep 1; kill -${signal} $$; sleep 600`;
        const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
        const job = await service.untilEnd(id);
        assert.deepEqual(
          [job.state, job.reason?.split('. ')[0]?.replace(/\.$/, '')],
          ['failed', `The script was stopped by SIG${signal}`],
        );
        assert.ok((job.credits_charged ?? 0) > 0, `charged ${job.credits_charged}`);
      }
    });
  },
  { cpus: CPUS },
);

interface SentRow {
  readonly id: string;
  readonly row: Row;
}

interface EndedRow extends SentRow {
  readonly job: JobBody;
}

/** Submits a job for each row, and waits until it runs or waits as the row says. */
async function submitAll(client: ServiceClient): Promise<readonly SentRow[]> {
  const submit = async (rows: readonly Row[]): Promise<SentRow[]> => {
    const sent: SentRow[] = [];
    for (const row of rows) {
      const { script, machine: machine_class, maxRuntime: max_runtime = 600 } = row;
      sent.push({ id: await client.submit({ 'a.sh': script }, { script: 'a.sh', machine_class, max_runtime }), row });
    }
    return sent;
  };
  const running = await submit(TABLE.filter(({ isWaiting }) => isWaiting !== true));
  for (const { id } of running) await untilJob(client, id, ({ started_at }) => started_at !== null);
  const waiting = await submit(TABLE.filter(({ isWaiting }) => isWaiting === true));
  for (const { id } of waiting) await untilReason(client, id, /^Waiting in the cluster: ./);
  return [...running, ...waiting];
}

/** What a site does, all at once. */
async function happen(cluster: SlurmCluster, data: string, jobs: readonly SentRow[]): Promise<void> {
  await cluster.command('scontrol', 'update', 'NodeName=small1', 'State=DRAIN', 'Reason=repairs');
  await cluster.command('scontrol', 'update', 'NodeName=small2', 'State=DOWN', 'Reason=repairs');
  // As many cores as jobs of its partition leave, so that all of the others have to go.
  const cores = CPUS - TABLE.filter(({ machine }) => machine === 'large').length;
  const urgent = ['--partition=cpu-large', `--cpus-per-task=${cores}`, '--mem=64M', '--output=/dev/null', '--chdir=/'];
  await cluster.command('sbatch', ...urgent, '--wrap=true');
  while ((await cluster.command('squeue', '-h', '-t', 'RUNNING', '-p', 'cpu-spare', '-o', '%i')) !== '') {
    await sleep(POLL_MS);
  }
  for (const { id, row } of jobs) {
    await row.act?.(cluster, id);
    if (row.script === ALLOCATES) await openGate(data, id);
  }
}

async function untilJob(client: ServiceClient, id: string, is: (job: JobBody) => boolean): Promise<JobBody> {
  for (;;) {
    const job = await client.job(id);
    if (is(job)) return job;
    await sleep(POLL_MS);
  }
}

async function untilReason(client: ServiceClient, id: string, reason: RegExp): Promise<void> {
  await untilJob(client, id, (job) => {
    assert.ok(!isFinalState(job.state), `the job is ${job.state}: ${job.reason}`);
    return reason.test(job.reason ?? '');
  });
}

function assertRow({ event, does, state, reason, exitCode, isCharged }: Row, job: JobBody): void {
  const name = `${event}, ${does ?? ''}: ${job.reason}`;
  assert.deepEqual([job.state, job.exit_code], [state, exitCode], name);
  if (reason === null) assert.equal(job.reason, null, name);
  else assert.match(job.reason ?? '', reason, name);
  const seconds = ((job.credits_charged ?? Number.NaN) / PRICE.credits_per_minute) * 60;
  if (!isCharged) assert.equal(seconds, 0, name);
  const longest = (Date.parse(job.finished_at ?? '') - Date.parse(job.started_at ?? '')) / 1000;
  if (isCharged) assert.ok(seconds > 0 && seconds <= longest + 1, `${name}: charged for ${seconds} of ${longest} s`);
}

/** As in the documentation, a line for each row. */
function tableOf(rows: readonly EndedRow[]): string {
  const lines = rows.map(({ row, job }) => [
    [row.event, row.does].filter(Boolean).join(': '),
    job.state,
    String(job.exit_code),
    job.credits_charged === 0 ? 'nothing' : `${job.credits_charged}`,
    job.reason ?? '',
  ]);
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
