// Child process of ledger.test.ts: inserts and updates `count` records.
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { makeRecord } from '../fixtures.ts';

const [home = '', name = '', count = '0'] = process.argv.slice(2);
const ledger = new JobLedger(home);
if (ledger.problem !== undefined) throw new Error(ledger.problem);
for (let index = 0; index < Number(count); index += 1) {
  const record = makeRecord({ jobId: `${name}-${index}` });
  ledger.insert(record);
  ledger.update(record.id, { state: 'running' });
}
ledger.dispose();
