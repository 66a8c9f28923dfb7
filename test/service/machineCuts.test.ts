import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCuts } from '../../scripts/load/machine/cutRun.ts';
import { sshIsMissing } from './support/sshServer.ts';

const missing = process.platform === 'linux' ? await sshIsMissing() : 'Linux only';
const skip = missing === undefined ? false : `NO SSH SERVER: ${missing}`;

// A sample: `node scripts/load/cuts.ts` is the whole.
test('however often the connection to a machine is cut and either end is killed, nothing is lost or doubled', {
  skip,
}, async (t) => {
  const { cut, verdict, faults } = await runCuts({ cuts: 12, minutes: 0.2, seed: 3 });
  t.diagnostic([...cut].map(([what, count]) => `${what} ${count}`).join(', '));
  assert.deepEqual(faults, []);
  assert.equal(verdict.ledgerError, 0);
  assert.ok(verdict.jobs > 0, 'jobs were accepted');
});
