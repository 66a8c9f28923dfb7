import { Companion } from '../support/companion.ts';
import type { LatencySummary } from '../support/latencies.ts';
import { storeFinishedJobs } from '../support/storedJobs.ts';
import type { Calibration } from './calibration.ts';
import { CpuMeter, each, round } from './cpuMeter.ts';

const STORED = 10_000;
const SECONDS = 8;
const RATE = 100;
const CHECKED_RATES = [50, 150];
const MANY_FILES = { uploads: 10, files: 500, bytes: 200 };
const MANY_BYTES = { uploads: 10, files: 3, bytes: 10_000_000 };

interface Address {
  readonly url: string;
  readonly key: string;
}
type Uploads = LatencySummary & { readonly megabytes: number };

/** Measures requests of a service that starts no jobs, so that they are all that it does. */
export async function measureRequests(
  program: string,
  folder: string,
  commitMs: number,
): Promise<Pick<Calibration, 'checks'> & { readonly requests: Omit<Calibration['requests'], 'downloadPerMegabyte'> }> {
  const stored = await storeFinishedJobs(folder, STORED);
  await using service = new Companion(program, folder, 0, 'stand-in');
  const { url, key } = await service.next<Address>();
  const meter = new CpuMeter(service);
  const load = async (kind: string, connections: number, rate: number) => {
    await using companion = new Companion(
      'requestsOnce.ts',
      url,
      key,
      kind,
      connections,
      SECONDS,
      rate,
      ...stored.slice(0, 1000),
    );
    let result: LatencySummary = { count: 0, p50: 0, p99: 0, longest: 0 };
    const spent = await meter.during(async () => (result = await companion.next<LatencySummary>()));
    return { result, spent, cost: each(spent, result.count) };
  };
  const send = async ({ uploads, files, bytes }: typeof MANY_FILES) => {
    await using companion = new Companion('archiveOnce.ts', url, key, uploads, files, bytes);
    let result: Uploads = { count: 0, p50: 0, p99: 0, longest: 0, megabytes: 0 };
    const spent = await meter.during(async () => (result = await companion.next<Uploads>()));
    return { result, cost: each(spent, uploads) };
  };

  await load('submit', 4, 0); // until the code is compiled
  const get = await load('get', 4, 200);
  const list = await load('list', 4, 50);
  const checks: Calibration['checks'][number][] = [];
  for (const perSecond of CHECKED_RATES) {
    const { result, spent } = await load('submit', 8, perSecond);
    const loopShare = round(spent.loopMs / 1000 / spent.seconds);
    checks.push({ perSecond, p50: result.p50, p99: result.p99, loopShare });
  }
  const submit = await load('submit', 8, RATE);
  const alone = await load('submit', 1, 10);
  const small = await send({ uploads: 50, files: 2, bytes: 1000 });
  const files = await send(MANY_FILES);
  const bytes = await send(MANY_BYTES);
  const perMegabyte = each(bytes.cost, bytes.result.megabytes, small.cost);
  const perFile = each(files.cost, MANY_FILES.files - 2, {
    loopMs: small.cost.loopMs + perMegabyte.loopMs * files.result.megabytes,
    othersMs: small.cost.othersMs + perMegabyte.othersMs * files.result.megabytes,
  });
  return {
    requests: {
      submit: submit.cost,
      key: each(small.cost, 1, alone.cost),
      perFile,
      perMegabyte,
      elsewhereMs: round(Math.max(0, alone.result.p50 - alone.cost.loopMs - commitMs)),
      get: get.cost,
      list: list.cost,
    },
    checks,
  };
}
