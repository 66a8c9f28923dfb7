import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jobFolder } from '../../src/service/jobFiles/jobFolder.ts';
import { ClusterStandIn } from '../support/clusterStandIn.ts';
import { Companion } from '../support/companion.ts';
import type { Calibration } from './calibration.ts';
import { CpuMeter, each, plus, round, type Spent, times } from './cpuMeter.ts';

// So many that each is looked at five times a second whether it writes or not, which is as much as a service ever looks.
const JOBS = 400;
const LOOKS_PER_SECOND = 5;
const SECONDS = 8;
const OUTPUTS_PER_SECOND = 200;
const READERS = 2_000;
const STRANGERS = 20_000;
const POLLS_PER_SECOND = 0.5;
const WARM_UP_JOBS = 30;
const LARGE = { jobs: 10, megabytes: 10 };
const END_EVERY_MS = 20;

interface Address {
  readonly url: string;
  readonly key: string;
}
type Measured = Pick<Calibration, 'jobs' | 'process'> & Pick<Calibration['requests'], 'downloadPerMegabyte'>;

/** Measures what jobs cost a service whose cluster is a stand-in, from their launch to their results. */
export async function measureJobs(
  program: string,
  folder: string,
  { submit, get }: Pick<Calibration['requests'], 'submit' | 'get'>,
): Promise<Measured> {
  const cluster = new ClusterStandIn(folder);
  await using speaker = new Companion('speakerOnce.ts', folder);
  await speaker.next();
  await using service = new Companion(program, folder, 3 * JOBS, 'cluster');
  const address = await service.next<Address>();
  const meter = new CpuMeter(service);
  const client = new Client(address);
  const finish = async (ids: readonly string[], bytes: number): Promise<void> => {
    await endJobs(folder, ids, bytes);
    await client.untilAll(ids, 'succeeded');
  };

  // Until the code is compiled.
  const first = await client.send(WARM_UP_JOBS);
  await client.untilAll(first, 'running');
  await finish(first, 100);
  const rest = { restMegabytes: Math.round(service.peakMegabytes), restFiles: openFiles(service.pid) };
  client.asked = 0;

  let ids: readonly string[] = [];
  const launched = await meter.during(async () => {
    ids = await client.send(JOBS);
    await client.untilAll(ids, 'running');
  });
  const asked = client.asked;
  await sleep(1_000);
  const silent = await meter.during(() => sleep(SECONDS * 1000));
  const look = each(silent, silent.seconds * JOBS * LOOKS_PER_SECOND);
  // While jobs are launched or end half of them are there, on average.
  const looked = ({ seconds }: Spent) => times(look, (seconds * JOBS * LOOKS_PER_SECOND) / 2);
  const launch = each(launched, JOBS, plus(looked(launched), times(submit, JOBS), times(get, asked)));

  const speak = (label: string): Promise<Spent> =>
    meter.during(() => speaker.ask({ ids, rate: OUTPUTS_PER_SECOND, seconds: SECONDS, label }));
  await speak('warm-up');
  const spoken = await speak('alone');
  const before = service.peakMegabytes;
  const read = await (async () => {
    await using readers = new Companion('readersOnce.ts', address.url, address.key, READERS, 'read', ...ids);
    await readers.next();
    return await speak('read');
  })();
  const kilobytesPerReader = round(Math.max(0, (service.peakMegabytes - before) * 1000) / READERS);
  const written = (read.seconds * OUTPUTS_PER_SECOND * READERS) / JOBS;

  const quiet = await meter.during(() => sleep(SECONDS * 1000));
  cluster.addStrangers(STRANGERS);
  await sleep(2_500);
  const crowded = await meter.during(() => sleep(SECONDS * 1000));

  const [large, small] = [ids.slice(0, LARGE.jobs), ids.slice(LARGE.jobs)];
  client.asked = 0;
  const ended = await meter.during(() => finish(small, 100));
  const end = each(ended, small.length, plus(looked(ended), times(get, client.asked)));
  const packed = await meter.during(() => finish(large, LARGE.megabytes * 1e6));
  const downloaded = await meter.during(() => client.download(large));

  cluster.fill();
  const idle = await meter.during(() => sleep(SECONDS * 500));
  const waiting = await client.send(JOBS);
  await sleep(4_000);
  const waited = await meter.during(() => sleep(SECONDS * 1000));
  return {
    jobs: {
      launch,
      waitPerSecond: each(waited, waited.seconds * waiting.length, same(idle, waited)),
      look,
      output: each(spoken, spoken.seconds * OUTPUTS_PER_SECOND, same(silent, spoken)),
      delivery: each(read, written, same(spoken, read)),
      end,
      resultPerMegabyte: each(packed, LARGE.jobs * LARGE.megabytes, times(end, LARGE.jobs)),
      pollPerJob: each(crowded, crowded.seconds * POLLS_PER_SECOND * STRANGERS, same(quiet, crowded)),
    },
    process: { ...rest, kilobytesPerReader },
    downloadPerMegabyte: each(downloaded, LARGE.jobs * LARGE.megabytes),
  };
}

/** What was spent in one time, for as long as another. */
function same(spent: Spent, { seconds }: Spent) {
  return times(spent, seconds / spent.seconds);
}

class Client {
  readonly #address: Address;
  readonly #headers: { readonly authorization: string };
  /** Requests for a job until now. */
  asked = 0;

  constructor(address: Address) {
    this.#address = address;
    this.#headers = { authorization: `Bearer ${address.key}` };
  }

  async send(count: number): Promise<readonly string[]> {
    await using load = new Companion('archiveOnce.ts', this.#address.url, this.#address.key, count, 2, 1000);
    return (await load.next<{ ids: readonly string[] }>()).ids;
  }

  async untilAll(ids: readonly string[], state: string): Promise<void> {
    for (const id of ids) {
      for (;;) {
        this.asked += 1;
        const response = await fetch(`${this.#address.url}/v1/jobs/${id}`, { headers: this.#headers });
        if (((await response.json()) as { state: string }).state === state) break;
        await sleep(50);
      }
    }
  }

  async download(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const response = await fetch(`${this.#address.url}/v1/jobs/${id}/artifacts`, { headers: this.#headers });
      await response.arrayBuffer();
    }
  }
}

/** Lets jobs end as their runners would, each with a result of so many bytes. */
async function endJobs(data: string, ids: readonly string[], bytes: number): Promise<void> {
  for (const id of ids) {
    const folder = jobFolder(join(data, 'jobs', id));
    writeFileSync(join(folder.workspace, 'result.bin'), randomBytes(bytes));
    const exit = { outcome: 'exited', code: 0, signal: null, detail: null, at: Date.now(), ranSeconds: 1 };
    writeFileSync(folder.exit, JSON.stringify(exit));
    await sleep(END_EVERY_MS);
  }
}

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
