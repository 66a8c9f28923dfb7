import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { Recorder } from '../../../../src/jobs/log/recorder.ts';
import { EventSpool } from '../../../../src/jobs/log/spool.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

test('a busy log changes the list of jobs no more than once a second', async (t) => {
  const home = tempHome(t);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const record = makeRecord();
  jobs.insert(record);
  const spool = new EventSpool(home, record.id);
  let updates = 0;
  const onUpdate = (): void => void (updates += 1);
  const recorder = new Recorder(record, { ledger: directLedger(jobs), spool, onUpdate });
  const started = performance.now();
  for (let line = 0; line < 100; line += 1) {
    const before = await spool.size();
    await recorder.push({ event: 'log', data: { text: `line ${line}\n` } });
    while ((await spool.size()) === before) await nextTurn(); // so that each line is written by itself
  }
  await recorder.flush();
  const seconds = (performance.now() - started) / 1_000;
  assert.ok(updates <= seconds + 2, `${updates} changes in ${seconds} s`);
  assert.equal(jobs.get(record.id)?.lastLogLine, 'line 99');
});
