// The Jobs view with 10,000 jobs in the ledger, and 50 running jobs that are followed at 2,000 lines/s together, as VS Code's extension
// host does it: the modules of the extension and its built thread, without VS Code. Prints the time until the view is painted, the
// longest time that the event loop was blocked, and the memory. Linux only.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import './support/standInVsCode.ts';
import { build } from '../scripts/build.ts';
import { createLogger } from '../src/core/log.ts';
import { JobLedger } from '../src/jobs/ledger/ledger.ts';
import type { WorkerService } from '../src/extension/threads/worker.ts';
import { type JobRecord, newRecord } from '../src/jobs/ledger/record.ts';
import { RemoteClient } from '../src/remote/client.ts';
import { Companion } from './support/companion.ts';

const JOBS = 10_000;
const FOLLOWED = 50;
const LINES_PER_SECOND = 2_000;
const SECONDS = 20;
const DAY_MS = 86_400_000;
const MAX_PAINT_MS = 200;
const MAX_BLOCKED_MS = 50;
const MAX_MEGABYTES = 60;

interface Painted {
  readonly paintMs: number;
  readonly allMs: number;
  readonly blockedMs: number;
  readonly megabytes: number;
}

interface Followed {
  readonly lines: number;
  readonly blockedMs: number;
  readonly cores: number;
}

function record(index: number, host: string, isRunning: boolean): JobRecord {
  const createdAt = new Date(Date.now() - (index / JOBS) * 60 * DAY_MS).toISOString();
  const state = isRunning ? 'running' : index % 7 === 0 ? 'failed' : 'succeeded';
  return newRecord({
    id: randomUUID(),
    host,
    jobId: `job-${index}`,
    state,
    script: `train.py --seed ${index} --learning-rate 0.001`,
    project: index % 3 === 0 ? 'vision' : 'language',
    maxRuntime: 3_600,
    folder: '/home/somebody/model',
    createdAt,
    startedAt: createdAt,
    finishedAt: isRunning ? null : createdAt,
    exitCode: isRunning ? null : index % 7 === 0 ? 1 : 0,
    creditsPerMinute: 0.1,
    machineClass: 'small',
    lastLogLine: `epoch 3 of 3 loss ${(1 / (index + 1)).toFixed(6)}`,
  });
}

function fill(home: string, count: number, host: string, isRunning: boolean): void {
  const ledger = new JobLedger(home);
  for (let index = 0; index < count; index += 1) ledger.insert(record(index, host, isRunning));
  ledger.dispose();
}

/** Memory of this process alone, in megabytes, after what it no longer needs was freed. */
function megabytes(): number {
  globalThis.gc?.();
  return (Number(/^Anonymous:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))?.[1]) * 1024) / 1e6;
}

/** A visible Jobs view on the ledger of a folder. */
async function openView(home: string) {
  const { startThread } = await import('../src/core/rpc/rpcProgram.ts');
  const { startBackground } = await import('../src/extension/threads/background.ts');
  const { JobStore } = await import('../src/extension/jobs/store/jobStore.ts');
  const { JobTree } = await import('../src/extension/jobs/list/jobTree.ts');
  const { LostContacts } = await import('../src/extension/jobs/store/lostContacts.ts');
  const { ListOptions } = await import('../src/extension/jobs/store/listOptions.ts');
  const { EventEmitter } = await import('vscode');
  const log = createLogger(() => {});
  const background = startBackground<WorkerService>({
    start: () => startThread(join(import.meta.dirname, '../dist/worker.mjs'), { workerData: { home } }),
    name: 'farwharf',
    log,
    lost: 'The thread stopped.',
    idle: { afterMs: 600_000, isNeeded: () => true },
  });
  const store = new JobStore(background.service.ledger);
  const lostContacts = new LostContacts();
  const memory = { get: () => {}, update: async () => {}, keys: () => [] };
  const view = { visible: true, onDidChangeVisibility: () => ({ dispose() {} }) };
  const changed = new EventEmitter();
  const listOptions = new ListOptions(memory as never);
  const tree = new JobTree({ store, lostContacts, listOptions }, { view, changed } as never);
  /** Asks for the rows that VS Code would: of expanded groups. */
  const paint = async (): Promise<number> => {
    let rows = 0;
    for (const node of await tree.getChildren()) {
      tree.getTreeItem(node);
      for (const child of await tree.getChildren(node)) {
        tree.getTreeItem(child);
        rows += 1;
      }
    }
    return rows;
  };
  changed.event((node) => (node === undefined ? void paint() : void tree.getTreeItem(node as never)));
  return { background, store, lostContacts, paint, log };
}

async function paintOnce(home: string): Promise<Painted> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const view = await openView(home);
  await sleep(500); // the modules are loaded
  delay.enable();
  const started = performance.now();
  await view.paint();
  const paintMs = performance.now() - started;
  while (view.store.hasMore) await view.store.showMore();
  await view.paint();
  const allMs = performance.now() - started;
  await sleep(20);
  const result = { paintMs, allMs, blockedMs: delay.max / 1e6, megabytes: megabytes() };
  await view.background.end();
  return result;
}

async function followOnce(home: string, host: string): Promise<Followed> {
  const { JobFollower } = await import('../src/extension/jobs/jobFollower.ts');
  const { background, store, lostContacts, log } = await openView(home);
  const { ledger, results } = background.service;
  const client = new RemoteClient(host, 'a-key-for-the-bench');
  const read = { lines: 0 };
  const service = {
    submitJob: client.submitJob.bind(client),
    getSubmission: client.getSubmission.bind(client),
    getJob: client.getJob.bind(client),
    downloadArtifacts: client.downloadArtifacts.bind(client),
    async *streamEvents(...args: Parameters<RemoteClient['streamEvents']>) {
      for await (const event of client.streamEvents(...args)) {
        read.lines += 1;
        yield event;
      }
    },
  };
  const hosts = { service: () => service, onDidChange: () => ({ dispose() {} }) };
  const deps = { hosts, ledger, results, store, lostContacts, home, log, isTrusted: () => true };
  const follower = new JobFollower(deps as never);
  const end = new AbortController();
  void store.keepFresh(end.signal);
  while (read.lines === 0) await sleep(50);
  await sleep(3_000); // all of them are followed
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [first, cpu] = [read.lines, process.cpuUsage()];
  await sleep(SECONDS * 1_000);
  const { user, system } = process.cpuUsage(cpu);
  const result = { lines: read.lines - first, blockedMs: delay.max / 1e6, cores: (user + system) / 1e6 / SECONDS };
  end.abort();
  follower.dispose();
  return result;
}

function inProcess(...args: readonly string[]): unknown {
  const { status, stdout } = spawnSync(process.execPath, ['--expose-gc', import.meta.filename, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}.`);
  return JSON.parse(stdout);
}

async function compare(): Promise<void> {
  build();
  const base = mkdtempSync(join(tmpdir(), 'farwharf-many-jobs-'));
  const [empty, full, running] = [join(base, 'empty'), join(base, 'full'), join(base, 'running')];
  try {
    fill(empty, 0, 'https://jobs.example.org', false);
    fill(full, JOBS, 'https://jobs.example.org', false);
    const before = inProcess('paint', empty) as Painted;
    const after = inProcess('paint', full) as Painted;
    const grown = after.megabytes - before.megabytes;
    await using service = new Companion('logServiceOnce.ts', FOLLOWED, LINES_PER_SECOND);
    const host = await service.next<string>();
    fill(running, FOLLOWED, host, true);
    const followed = inProcess('follow', running, host) as Followed;
    const target = (value: number, limit: number): string => `(target < ${limit}${value < limit ? '' : ', FAILED'})`;
    process.stdout.write(
      `Jobs view, ${JOBS} jobs | painted after ${after.paintMs.toFixed(0)} ms ${target(after.paintMs, MAX_PAINT_MS)}, ` +
        `empty after ${before.paintMs.toFixed(0)} ms | all jobs read after ${after.allMs.toFixed(0)} ms | ` +
        `blocked at most ${after.blockedMs.toFixed(0)} ms ${target(after.blockedMs, MAX_BLOCKED_MS)} | ` +
        `${grown.toFixed(1)} MB more than an empty one ${target(grown, MAX_MEGABYTES)}\n` +
        `${FOLLOWED} jobs followed | ${(followed.lines / SECONDS).toFixed(0)} lines/s | ` +
        `blocked at most ${followed.blockedMs.toFixed(0)} ms ${target(followed.blockedMs, MAX_BLOCKED_MS)} | ` +
        `${followed.cores.toFixed(2)} cores\n`,
    );
    const isGood =
      after.paintMs < MAX_PAINT_MS &&
      Math.max(after.blockedMs, followed.blockedMs) < MAX_BLOCKED_MS &&
      grown < MAX_MEGABYTES;
    process.exitCode = isGood ? 0 : 1;
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  }
}

const [part, home = '', host = ''] = process.argv.slice(2);
if (part === 'paint') process.stdout.write(JSON.stringify(await paintOnce(home)));
else if (part === 'follow') process.stdout.write(JSON.stringify(await followOnce(home, host)));
else await compare();
process.exit();
