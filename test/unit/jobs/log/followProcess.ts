// Child process of takeover.test.ts: follows a job until it is over or this process is killed.
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { watchJob } from '../../../../src/jobs/log/follow.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { EventSpool } from '../../../../src/jobs/log/spool.ts';
import { ResultCounter } from '../../../../src/jobs/log/resultCounter.ts';
import { connectTo } from '../testClient.ts';

const [home = '', id = '', url = ''] = process.argv.slice(2);
const jobs = new JobLedger(home);
const results = new ResultCounter(home);
const deps = { service: connectTo(url), ledger: directLedger(jobs), spool: new EventSpool(home, id), results };
const signal = new AbortController().signal;
for await (const { event, data } of watchJob(deps, id, { signal, leaseMs: 600, backoff: { firstMs: 20, factor: 1 } })) {
  process.stdout.write(`${JSON.stringify([event, data])}\n`);
}
jobs.dispose();
process.exit(0);
