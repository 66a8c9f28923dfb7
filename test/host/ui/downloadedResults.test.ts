import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import {
  choose,
  pressOnRow,
  runCommand,
  showNotification,
  WAIT_TIMEOUT_MS,
} from '../../../scripts/vscode/workbench.ts';
import { canKill, leftOvers, makePlace, type Place, run, snapshot } from '../../unit/jobs/results/killedDownloads.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const SCRIPT = 'draw.mjs';
const PICTURE = 'plot.svg';
const noKill = canKill() ? false : 'strace is not installed: there is no way to stop at a step';

suite('downloaded results', () => {
  let window: Window;
  let place: Place;
  let [original, killed] = ['', ''];

  before(async () => {
    window = await openWindow({
      name: 'folder',
      prepare: async (folder, scratch) => {
        place = makePlace(scratch);
        assert.equal(place.folder, folder);
        const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
        const text = `import { writeFileSync } from 'node:fs';\nwriteFileSync('${PICTURE}', '${picture}');\n`;
        await writeFile(join(folder, SCRIPT), text);
        original = snapshot(folder);
        if (noKill === false) assert.equal(run(place, 'download', { kill: { call: 'link', number: 20 } }), 'SIGKILL');
        killed = snapshot(folder);
      },
    });
  });
  after(() => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  const tab = (name: string): Locator => window.page.locator('.tabs-container .tab', { hasText: name });
  const groups = (): Promise<number> => window.page.locator('.editor-group-container').count();
  const download = async (): Promise<void> => {
    const succeeded = window.page
      .locator('.part.sidebar .monaco-list-row', { hasText: SCRIPT })
      .filter({ hasText: 'succeeded' });
    await pressOnRow(window.page, succeeded.first(), 'Download Results');
  };

  test('a window undoes a killed download and reports it', { skip: noKill }, async () => {
    assert.notEqual(killed, original);
    for (const end = Date.now() + WAIT_TIMEOUT_MS; leftOvers(place).length > 0; ) {
      assert.ok(Date.now() < end, 'nothing is taken back');
      await sleep(100);
    }
    const message = await showNotification(window.page, 'results of train.py');
    assert.match(
      await message.innerText(),
      /was stopped while it was writing .* as it was before\. Download the results again\./,
    );
    assert.equal(snapshot(place.folder), original);
  });

  test('a picture is shown in the whole editor area if nothing is open there', async () => {
    await runCommand(window.page, 'View: Close All Editors');
    await runCommand(window.page, 'View: Show Farwharf');
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, SCRIPT);
    await choose(window.page, 'Submit');
    await showNotification(window.page, '1 new file');
    await download();
    await tab(PICTURE).waitFor();
    assert.equal(await groups(), 1);
  });

  test('a picture that is downloaded again is shown in the Explorer, and the status bar says that nothing is new', async () => {
    await runCommand(window.page, 'View: Show Farwharf');
    await runCommand(window.page, 'Farwharf: Download Results');
    await choose(window.page, SCRIPT);
    await window.page.locator('.statusbar-item', { hasText: 'Nothing new: folder already has' }).waitFor();
    await window.page.locator('.explorer-folders-view .monaco-list-row.selected', { hasText: PICTURE }).waitFor();
  });
});
