import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeRecovered, ResultJournals } from '../../../../src/jobs/results/resultJournals.ts';
import { tempHome } from '../fixtures.ts';

const MODULE = join(import.meta.dirname, '../../../../src/jobs/results/resultJournals.ts');

/** Begins a download in a process that ends before it writes anything. Returns the path for its steps. */
function beginAndStop(home: string, folder: string): string {
  const program = `
    import { ResultJournals } from ${JSON.stringify(MODULE)};
    const [home, folder] = process.argv.slice(1);
    process.stdout.write(new ResultJournals(home).begin(folder, 'train.py').steps);`;
  const argv = ['--input-type=module', '-e', program, home, folder];
  const { stdout, stderr, status } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

const journalsIn = (home: string): string[] => readdirSync(join(home, 'results'));

test('without downloads nothing is recovered', async (t) => {
  assert.deepEqual(await new ResultJournals(tempHome(t)).recover(), []);
});

test('a download that was stopped before it wrote anything is forgotten, and not reported', async (t) => {
  const home = tempHome(t);
  beginAndStop(home, tempHome(t));
  assert.deepEqual(await new ResultJournals(home).recover(), []);
  assert.deepEqual(journalsIn(home), []);
});

test('a journal that was cut off is removed, and not reported', async (t) => {
  const home = tempHome(t);
  beginAndStop(home, tempHome(t));
  const [name = ''] = journalsIn(home);
  truncateSync(join(home, 'results', name), 10);
  assert.deepEqual(await new ResultJournals(home).recover(), []);
  assert.deepEqual(journalsIn(home), []);
});

test('a download into a folder that is missing is tried again for a month, and then given up', async (t) => {
  const home = tempHome(t);
  const steps = beginAndStop(home, join(home, 'unplugged'));
  writeFileSync(steps, '');
  const journals = new ResultJournals(home);
  assert.deepEqual(await journals.recover(), []);
  const [name = ''] = journalsIn(home).filter((each) => each.endsWith('.json'));
  const daysAgo = (days: number): Date => new Date(Date.now() - days * 24 * 3600_000);
  utimesSync(join(home, 'results', name), daysAgo(29), daysAgo(29));
  assert.deepEqual(await journals.recover(), []);
  assert.equal(journalsIn(home).length, 2);
  const [later = ''] = journalsIn(home).filter((each) => each.endsWith('.json'));
  utimesSync(join(home, 'results', later), daysAgo(31), daysAgo(31));
  assert.deepEqual(await journals.recover(), []);
  assert.deepEqual(journalsIn(home), []);
});

test('the journal of a running download is left to it', async (t) => {
  const home = tempHome(t);
  const journal = new ResultJournals(home).begin(tempHome(t), 'train.py');
  assert.deepEqual(await new ResultJournals(home).recover(), []);
  assert.equal(journalsIn(home).length, 1);
  assert.equal(journal.isOpen(), false);
  journal.end();
  assert.deepEqual(journalsIn(home), []);
});

test('what was undone is described with what to do next', () => {
  const recovered = { folder: '/home/ada/model', script: 'train.py', files: 0, beside: [] };
  assert.match(describeRecovered(recovered), /Nothing was changed yet\. Download the results again\.$/);
  assert.match(describeRecovered({ ...recovered, files: 2 }), /The folder is as it was before\./);
  const kept = describeRecovered({ ...recovered, files: 1, beside: ['a', 'b'] });
  assert.match(kept, /Files that changed since were kept, with the earlier versions beside them: a, b\.$/);
  assert.match(describeRecovered({ ...recovered, problem: 'a: EROFS' }), /Not everything could be undone \(a: EROFS\)/);
});
