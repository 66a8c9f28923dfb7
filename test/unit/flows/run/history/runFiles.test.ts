import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkAnswer } from '../../../../../src/flows/run/history/answerRun.ts';
import { checkpointBefore } from '../../../../../src/flows/run/history/rerun.ts';
import { readIfThere, readRunRecord } from '../../../../../src/flows/run/history/runFiles.ts';
import { runFolder } from '../../../../../src/flows/run/history/runFolder.ts';
import { RunHistory } from '../../../../../src/flows/run/history/runHistory.ts';

const PLACES: Readonly<Record<string, (path: string) => void>> = {
  pipe: (path) => void execFileSync('mkfifo', [path]),
  'endless device': (path) => symlinkSync('/dev/zero', path),
  folder: (path) => mkdirSync(path),
};

test('a file without runs is said to need one first', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-run-'));
  t.after(() => rmSync(home, { recursive: true }));
  const message = 'agent.ts has no run "last". It has no runs yet. Run it first.';
  await assert.rejects(new RunHistory(home).find(join(home, 'agent.ts'), 'last'), { code: 'missing', message });
});

test('a run of others is read from regular files only', { skip: process.platform === 'win32' }, async (t) => {
  for (const [name, place] of Object.entries(PLACES)) {
    const folder = mkdtempSync(join(tmpdir(), 'farwharf-run-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const run = runFolder(folder);
    for (const path of [run.record, run.waiting, run.checkpoints, run.trace, run.continuedBy]) place(path);
    assert.equal(await readRunRecord(run), undefined, name);
    assert.equal(await readIfThere(run.continuedBy), '', name);
    assert.equal(await checkpointBefore(run, {}), undefined, name);
    await assert.rejects(checkAnswer(run, 'yes'), { code: 'corrupt' }, name);
    await assert.rejects(checkpointBefore(run, { path: 'Ask' }), {
      code: 'missing',
      message: 'No step of the run is recorded, so it cannot start at "Ask". Run the flow from its beginning.',
    });
  }
});
