import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../src/core/processes/findProgram.ts';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { processesWith } from './support/processes.ts';
import { startService, temporaryFolder, testConfig } from './support/service.ts';

const missing = await isolationIsMissing();
const skip = missing === undefined ? false : `NO ISOLATION: ${missing}`;

/**
 * bwrap starts a second process of itself, which waits for the first one to prepare its namespace. If the first is killed before, the second
 * waits for ever. This stands in for it at that moment.
 */
test('a sandbox whose runner was killed while it was prepared is ended', { skip }, async (t) => {
  isolateJobs();
  const bin = await temporaryFolder(t);
  const bwrap = findProgram('bwrap', process.env['PATH'] ?? '');
  const seconds = `6${process.pid}`;
  const stuck = `[ "$1" = --json-status-fd ] && exec sleep ${seconds}`;
  await writeFile(join(bin, 'bwrap'), `#!/bin/sh\n${stuck}\nexec ${bwrap} "$@"\n`);
  await chmod(join(bin, 'bwrap'), 0o755);
  const path = process.env['PATH'];
  process.env['PATH'] = `${bin}${delimiter}${path}`;
  t.after(() => (process.env['PATH'] = path));
  const service = await startService(t, { config: testConfig() });
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  while (processesWith(`sleep ${seconds}`).length === 0) await service.job(id);
  const claim = await readFile(join(service.data, 'jobs', id, 'claim.json'), 'utf8');
  process.kill((JSON.parse(claim) as { pid: number }).pid, 'SIGKILL');
  assert.equal((await service.untilEnd(id)).state, 'failed');
  assert.deepEqual(processesWith(`sleep ${seconds}`), []);
});
