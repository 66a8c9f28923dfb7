import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { reportInterrupted } from '../../../../src/extension/submit/interrupted.ts';
import { StartedSubmits } from '../../../../src/jobs/submit/startedSubmits.ts';
import { tempHome } from '../../jobs/fixtures.ts';

const PACKING = join(import.meta.dirname, 'packingProcess.ts');
const FOLDER = '/home/ada/model';

test('a submit whose window closed while it was packed is reported once, and offered with the same arguments', async (t) => {
  const home = tempHome(t);
  const packing = fork(PACKING, [home, FOLDER]);
  t.after(() => packing.kill('SIGKILL'));
  await once(packing, 'message');
  const shown: string[] = [];
  const ran = Promise.withResolvers<unknown>();
  const isPacking = Promise.withResolvers<void>();
  const deps = {
    submits: new StartedSubmits(home),
    folders: () => {
      isPacking.resolve();
      return [FOLDER];
    },
    show: async (text: string, ...buttons: readonly string[]) => {
      shown.push(text);
      return buttons[0];
    },
    run: async (command: string, argument: unknown) => ran.resolve([command, argument]),
  };
  // The timers of the loop keep no process alive, as in the window.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  const reporting = reportInterrupted(deps, AbortSignal.timeout(60_000), 20);
  await isPacking.promise;
  assert.deepEqual(shown, [], 'it is still being packed');
  packing.kill('SIGKILL');
  await reporting;
  assert.deepEqual(await ran.promise, [
    'farwharf.submitWorkspace',
    { folder: FOLDER, script: 'train.py', lookFirst: true },
  ]);
  await reportInterrupted(deps, AbortSignal.timeout(60_000), 20);
  assert.deepEqual(shown, ['The window was closed while train.py was being packed, so nothing was submitted.']);
});

test('a submit that was sent or has failed leaves nothing, and one of another folder stays for its window', async (t) => {
  const home = tempHome(t);
  const submits = new StartedSubmits(home);
  const begin = (folder: string) => submits.begin({ folder, name: 'train.py', request: {} });
  const [end] = [await begin(FOLDER), await begin('/home/ada/other')];
  assert.equal((await submits.takeInterrupted([FOLDER])).hasOthers, true);
  await end();
  assert.deepEqual(await submits.takeInterrupted([FOLDER]), { interrupted: [], hasOthers: false });
  assert.equal(readdirSync(join(home, 'submits')).length, 1);
});
