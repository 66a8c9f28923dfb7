// The job service under the load of a team, with 10,000 stored jobs: small jobs submitted, each durable before its answer; thousands
// of readers of event streams; requests for a job, at rest and with all of that at once. Beside it, in the same run, a floor: bare node:http,
// with a row in SQLite that is on disk before the response, and with events that are created and written but never stored. The service,
// what speaks for its jobs and each source of load are processes of their own, and all of them share the machine. Linux only.
// Usage: node bench/service.ts [readers] [jobs with readers] [events per second over all jobs] [seconds]
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildService } from './support/builtService.ts';
import { Companion } from './support/companion.ts';
import type { LatencySummary } from './support/latencies.ts';
import { storeFinishedJobs } from './support/storedJobs.ts';

const [READERS = 2000, JOBS = 100, RATE = 2000, SECONDS = 10] = process.argv.slice(2).map(Number);
const STORED = 10_000;
const SUBMITTERS = 8;
// Each window has a connection of its own, so that a request does not wait for the response to another.
const WINDOWS = 32;
const GET_RATE = 200;
const SUBMIT_RATE = 200;
// The requests beside streams begin in the first seconds of those, which are not measured: two processes that start take all of the machine.
const REQUESTS_START_MS = 1_000;
// A service accepts 10,000 jobs that have not ended, and the submissions at a rate need 4,000 of them.
const FULL_SPEED_SECONDS = 3;

interface Address {
  readonly url: string;
  readonly key: string;
}
type Requests = LatencySummary & {
  readonly perSecond: number;
  /** Requests, those of the warm-up too. */
  readonly sent: number;
  readonly cpuSeconds: number;
  readonly failures: Readonly<Record<string, number>>;
  /** Of the jobs that were accepted. */
  readonly ids: readonly string[];
};
interface Load {
  /** Makes events, whose texts contain the label, and returns how many. */
  readonly speak: (label: string) => Promise<number>;
  /** The IDs of jobs that are requested. */
  readonly stored: readonly string[];
}
type Streams = LatencySummary & { readonly cpuSeconds: number; readonly lost: number };

let isGood = true;
let streamRuns = 0;

function print(what: string, text: string, target?: { readonly name: string; readonly isMet: boolean }): void {
  if (target?.isMet === false) isGood = false;
  const verdict = target === undefined ? '' : `  ${target.isMet ? 'ok' : 'FAILED'} (target ${target.name})`;
  process.stdout.write(`${what.padEnd(40)} ${text}${verdict}\n`);
}

const ms = (value: number): string => `${value.toFixed(1)} ms`;
const delays = ({ p50, p99, longest }: LatencySummary): string =>
  `p50 ${ms(p50).padStart(8)}  p99 ${ms(p99).padStart(9)}  longest ${ms(longest).padStart(9)}`;

/** Runs requests against a service, and adds the processor time that it took. */
async function requests(
  service: Companion,
  { url, key }: Address,
  [kind, connections, rate, seconds = SECONDS]: readonly ['submit' | 'get' | 'list', number, number, number?],
  ids: readonly string[] = [],
): Promise<Requests & { readonly serviceCpu: number }> {
  const before = service.cpuSeconds;
  await using load = new Companion('requestsOnce.ts', url, key, kind, connections, seconds, rate, ...ids);
  const result = await load.next<Requests>();
  if (Object.keys(result.failures).length > 0) {
    print(`  refused requests (${kind})`, JSON.stringify(result.failures), { name: 'none', isMet: false });
  }
  return { ...result, serviceCpu: service.cpuSeconds - before };
}

function printSubmits(
  who: string,
  { perSecond, sent, ...rest }: Requests & { serviceCpu: number },
  least?: number,
): void {
  const perJob = (seconds: number): string => `${((seconds / sent) * 1000).toFixed(2)} ms`;
  const cpu = `CPU per job: service ${perJob(rest.serviceCpu)}, client ${perJob(rest.cpuSeconds)}`;
  const target = least === undefined ? undefined : { name: `>= ${least}/s`, isMet: perSecond >= least };
  print(`submits, ${who}`, `${perSecond.toFixed(0).padStart(5)}/s  ${delays(rest)}  ${cpu}`, target);
}

/** Lets readers read what `speak` makes, and prints how long that took. */
async function streams(
  who: string,
  service: Companion,
  { url, key, ids }: Address & { readonly ids: readonly string[] },
  speak: (label: string) => Promise<number>,
): Promise<Streams> {
  const label = `run-${(streamRuns += 1)}`;
  await using readers = new Companion('readersOnce.ts', url, key, READERS, label, ...ids);
  await readers.next();
  const [cpuBefore, startedAt] = [service.cpuSeconds, performance.now()];
  const spoken = await speak(label);
  const cpu = (service.cpuSeconds - cpuBefore) / ((performance.now() - startedAt) / 1000);
  await sleep(1_000);
  const result = await readers.finish<Omit<Streams, 'lost'>>();
  const share = `${(cpu * 100).toFixed(0)} % of a core, client ${result.cpuSeconds.toFixed(1)} s`;
  print(`streams, ${who}`, `${delays(result)}  ${(result.count / SECONDS).toFixed(0)} events/s read, ${share}`);
  return { ...result, lost: (spoken * READERS) / JOBS - result.count };
}

/** Submits jobs until as many run as the service can have, and returns their IDs. */
async function startJobs(service: Companion, { url, key }: Address): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < JOBS) ids.push(...(await requests(service, { url, key }, ['submit', 4, JOBS, 1])).ids);
  ids.length = JOBS;
  for (const id of ids) {
    for (let state = ''; state !== 'running'; await sleep(50)) {
      const response = await fetch(`${url}/v1/jobs/${id}`, { headers: { authorization: `Bearer ${key}` } });
      state = ((await response.json()) as { state: string }).state;
      if (state === 'running') break;
    }
  }
  return ids;
}

/** A service whose jobs run elsewhere, as with a cluster: it accepts jobs, follows their output and reports it. */
async function measureAtScale(program: string, folder: string): Promise<void> {
  const stored = await storeFinishedJobs(folder, STORED);
  await using speaker = new Companion('speakerOnce.ts', folder);
  await speaker.next();
  await using service = new Companion(program, folder, JOBS, 'stand-in');
  const address = await service.next<Address>();
  print('service, at rest', `${service.peakMegabytes.toFixed(0)} MB`);

  const isFast = (result: LatencySummary) => ({ name: 'p99 < 10 ms', isMet: result.p99 < 10 });
  const idle = await requests(service, address, ['get', WINDOWS, GET_RATE], stored);
  print(`GET /v1/jobs/{id}, ${GET_RATE}/s, at rest`, delays(idle), isFast(idle));
  const list = await requests(service, address, ['list', WINDOWS, GET_RATE / 4], stored);
  print(`GET /v1/jobs, ${GET_RATE / 4}/s, at rest`, delays(list));

  const running = { ...address, ids: await startJobs(service, address) };
  const speak = (label: string): Promise<number> =>
    speaker.ask({ ids: running.ids, rate: RATE, seconds: SECONDS, label });
  printSubmits(
    `${SUBMITTERS} at once`,
    await requests(service, address, ['submit', SUBMITTERS, 0, FULL_SPEED_SECONDS]),
    SUBMIT_RATE,
  );
  printSubmits(
    `${SUBMIT_RATE}/s`,
    await requests(service, address, ['submit', SUBMITTERS, SUBMIT_RATE]),
    SUBMIT_RATE * 0.98,
  );

  const who = `${READERS} readers, ${JOBS} jobs, ${RATE}/s`;
  const read = await streams(who, service, running, speak);
  print('  delivery', `p99 ${ms(read.p99)}`, { name: '< 250 ms', isMet: read.p99 < 250 });
  print('  events lost', String(read.lost), { name: 'none', isMet: read.lost === 0 });

  await measureAll('all at once', service, running, { speak, stored, hasTargets: true });
  const peak = service.peakMegabytes;
  print('service, highest', `${peak.toFixed(0)} MB`, { name: '< 300 MB', isMet: peak < 300 });
}

/** All three loads at the same time. The baseline has no targets. */
async function measureAll(
  who: string,
  service: Companion,
  running: Address & { readonly ids: readonly string[] },
  { speak, stored, hasTargets }: Load & { readonly hasTargets: boolean },
): Promise<void> {
  const [read, submitted, answered] = await Promise.all([
    streams(who, service, running, speak),
    sleep(REQUESTS_START_MS).then(() => requests(service, running, ['submit', SUBMITTERS, SUBMIT_RATE])),
    sleep(REQUESTS_START_MS).then(() => requests(service, running, ['get', WINDOWS, GET_RATE], stored)),
  ]);
  if (hasTargets) print('  delivery', `p99 ${ms(read.p99)}`, { name: '< 250 ms', isMet: read.p99 < 250 });
  printSubmits(`${SUBMIT_RATE}/s, ${who}`, submitted, hasTargets ? SUBMIT_RATE * 0.98 : undefined);
  const isFast = { name: 'p99 < 50 ms', isMet: answered.p99 < 50 };
  print(`GET /v1/jobs/{id}, ${GET_RATE}/s, ${who}`, delays(answered), hasTargets ? isFast : undefined);
}

/** A service that runs the jobs itself, on the cores that it shares with them and with the load. */
async function measureWithJobs(program: string, folder: string): Promise<void> {
  await using service = new Companion(program, folder, availableParallelism(), 'real');
  const address = await service.next<Address>();
  printSubmits('while jobs run here', await requests(service, address, ['submit', SUBMITTERS, 0, FULL_SPEED_SECONDS]));
}

async function measureFloor(folder: string): Promise<void> {
  await using rows = new Companion('floorOnce.ts', folder, JOBS);
  printSubmits(
    'floor: a row',
    await requests(rows, await rows.next<Address>(), ['submit', SUBMITTERS, 0, FULL_SPEED_SECONDS]),
  );
  await using fanOut = new Companion('floorOnce.ts', folder, JOBS);
  const ids = Array.from({ length: JOBS }, (_, index) => String(index));
  const address = await fanOut.next<Address>();
  const speak = (label: string): Promise<number> => fanOut.ask({ rate: RATE, seconds: SECONDS, label });
  await streams('floor: nothing stored', fanOut, { ...address, ids }, speak);
  await measureAll('floor: all at once', fanOut, { ...address, ids }, { speak, stored: ids, hasTargets: false });
}

const base = mkdtempSync(join(tmpdir(), 'farwharf-bench-'));
try {
  const program = await buildService(join(base, 'program'));
  await measureFloor(base);
  await measureAtScale(program, join(base, 'scale'));
  await measureWithJobs(program, join(base, 'here'));
} finally {
  rmSync(base, { recursive: true, force: true, maxRetries: 5 });
}
process.exitCode = isGood ? 0 : 1;
