import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWindow } from '../../../scripts/vscode/window.ts';
import { showNotification, WAIT_TIMEOUT_MS } from '../../../scripts/vscode/workbench.ts';
import { canKill, leftOvers, makePlace, type Place, run, snapshot } from '../../unit/jobs/results/killedDownloads.ts';
import { screenshotOfFailure } from '../support/failure.ts';

test('a window undoes a killed download and reports it', async (t) => {
  if (!canKill()) return t.skip('strace is not installed: there is no way to stop at a step');
  let place: Place | undefined;
  let [before, killed] = ['', ''];
  await using window = await openWindow({
    name: 'folder',
    prepare: async (folder, scratch) => {
      place = makePlace(scratch);
      assert.equal(place.folder, folder);
      before = snapshot(folder);
      assert.equal(run(place, 'download', { kill: { call: 'link', number: 20 } }), 'SIGKILL');
      killed = snapshot(folder);
    },
  });
  assert.notEqual(killed, before);
  assert.ok(place);
  for (const end = Date.now() + WAIT_TIMEOUT_MS; leftOvers(place).length > 0; ) {
    assert.ok(Date.now() < end, 'nothing is taken back');
    await sleep(100);
  }
  const message = await showNotification(window.page, 'results of train.py').catch(async (error: unknown) => {
    await screenshotOfFailure(window.page, t);
    throw error;
  });
  assert.match(
    await message.innerText(),
    /was stopped while it was writing .* as it was before\. Download the results again\./,
  );
  assert.equal(snapshot(place.folder), before);
});
