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
import { describeRunNow } from '../../../../../src/flows/run/history/describeRun.ts';
import { RunHistory } from '../../../../../src/flows/run/history/runHistory.ts';
import { processOwner } from '../../../../../src/core/processes/processOwner.ts';

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

test('a run that waits, runs, or that a kept run continues or replays is never removed, and the others are counted', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-run-'));
  t.after(() => rmSync(home, { recursive: true }));
  const file = join(home, 'agent.ts');
  const history = new RunHistory(home, { runs: 2, bytes: 1e9 });
  const done = { type: 'done', exitCode: 0 } as const;
  const waiting = { type: 'waiting', question: 'Publish it?', path: 'main/Ask' } as const;
  const begin = async (facts: object): Promise<string> => (await history.begin({ file, ...facts })).record.id;
  const position = { path: 'main/Ask', visit: 1 };

  const running = await begin({ owner: processOwner() });
  const stopped = await begin({});
  const first = await begin({ outcome: done });
  const second = await begin({ outcome: waiting, resumedFrom: { run: first, ...position } });
  const open = await begin({ outcome: waiting, resumedFrom: { run: second, ...position } });
  const answered = await begin({ outcome: waiting, answeredBy: 'gone' });
  const others = [await begin({ outcome: done }), await begin({ outcome: done })];
  const replayed = await begin({ outcome: done, replayOf: answered });
  const newest = [await begin({ outcome: done, replayOf: replayed }), await begin({ outcome: done })];

  const kept = (await history.list(file)).map(({ id }) => id);
  assert.deepEqual(kept, [...newest.toReversed(), replayed, open, second, first, running]);
  assert.equal(await history.removed(file), [stopped, answered, ...others].length);
  assert.equal((await history.locate('last')).id, open);
  await assert.rejects(new RunHistory(join(home, 'none')).locate('last'), {
    code: 'missing',
    message: 'No run on this machine waits for an answer.',
  });
});

test('a run that was answered names the run that continued it', () => {
  const record = { version: 1, id: 'a', file: '/a.ts', startedAt: '2026-01-01' } as const;
  const outcome = { type: 'waiting', question: 'Publish it?', path: 'main/Ask' } as const;
  assert.equal(describeRunNow({ ...record, outcome }), 'waits at main/Ask: Publish it?');
  assert.equal(describeRunNow({ ...record, outcome, answeredBy: 'b' }), 'answered at main/Ask, continued by run b');
});
