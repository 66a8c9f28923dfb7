import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { lastLines } from '../../../../src/jobs/log/lastLines.ts';
import { EventSpool } from '../../../../src/jobs/log/spool.ts';

test('the lines of both streams are complete although their pieces mix, with those of standard error last', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-lines-'));
  t.after(() => rmSync(home, { recursive: true }));
  const spool = new EventSpool(home, 'job');
  assert.deepEqual(await lastLines(spool), []);
  const log = (stream: string, text: string) => ({ event: 'log', data: { stream, text } });
  await spool.append([
    { event: 'state', data: { state: 'running' } },
    log('stderr', 'Traceback:\n  File "tr'),
    log('stdout', 'epoch 1\nepo'),
    log('stderr', 'ain.py", line 3\n'),
    log('stdout', 'ch 2\n'),
  ]);
  const lines = await lastLines(spool);
  assert.deepEqual(
    lines.filter((line) => line !== ''),
    ['epoch 1', 'epoch 2', 'Traceback:', '  File "train.py", line 3'],
  );
});
