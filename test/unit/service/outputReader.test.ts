import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MarkedLineWriter } from '../../../src/core/markedLines.ts';
import type { LogEventData } from '../../../src/remote/schemas.ts';
import { type OutputPage, readOutput } from '../../../src/service/outputReader.ts';
import { OutputLog } from '../../../src/service/runner/outputLog.ts';

function textsOf(page: OutputPage | undefined): LogEventData[] {
  return (page?.events ?? []).flatMap((event) => (event.type === 'log' ? [event.data] : []));
}

function logPath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-output-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'output.ndjson');
}

test('what was written is read once, joined by stream, with whole characters', async (t) => {
  const path = logPath(t);
  assert.equal(await readOutput(path, 0), undefined);
  const log = new OutputLog(path, 1_000_000);
  const euro = Buffer.from('€');
  log.append('stdout', euro.subarray(0, 1));
  log.append('stderr', Buffer.from('problem'));
  log.append('stdout', euro.subarray(1));
  log.append('stdout', Buffer.from(' more\n'));
  const page = await readOutput(path, 0);
  assert.deepEqual(textsOf(page), [
    { stream: 'stderr', text: 'problem' },
    { stream: 'stdout', text: '€ more\n' },
  ]);
  assert.equal(await readOutput(path, page?.offset ?? 0), undefined);
  log.close();
});

test('half a line, as a crash leaves it, is not read', async (t) => {
  const path = logPath(t);
  writeFileSync(path, '{"stream":"stdout","text":"whole"}\n{"stream":"stdout","te');
  const page = await readOutput(path, 0);
  assert.deepEqual(page, { events: [{ type: 'log', data: { stream: 'stdout', text: 'whole' } }], offset: 35 });
  assert.equal(await readOutput(path, 35), undefined);
  appendFileSync(path, 'xt":"rest"}\n');
  assert.deepEqual(textsOf(await readOutput(path, 35)), [{ stream: 'stdout', text: 'rest' }]);
});

test('lines that no runner wrote are passed over', async (t) => {
  const path = logPath(t);
  writeFileSync(path, 'noise\n[]\n{"stream":"other","text":"x"}\n{"stream":"stdout","text":"good"}\n');
  assert.deepEqual(textsOf(await readOutput(path, 0)), [{ stream: 'stdout', text: 'good' }]);
  writeFileSync(path, `${'x'.repeat(3_000_000)}\n{"stream":"stdout","text":"good"}\n`);
  let offset = 0;
  const texts: string[] = [];
  for (let page = await readOutput(path, 0); page !== undefined; page = await readOutput(path, offset)) {
    offset = page.offset;
    texts.push(...textsOf(page).map(({ text }) => text));
  }
  assert.deepEqual(texts, ['good']);
});

test('output beyond the limit is not kept, and the log says so', async (t) => {
  const path = logPath(t);
  const log = new OutputLog(path, 10);
  log.append('stdout', Buffer.from('0123456789'));
  log.append('stdout', Buffer.from('more'));
  log.close();
  const texts = textsOf(await readOutput(path, 0)).map(({ text }) => text);
  assert.deepEqual(texts, ['0123456789', 'farwharf: The output is too long; the rest of it is not kept.\n']);
});

test('what a flow tells of its run becomes an event of its own and leaves the log', async (t) => {
  const path = logPath(t);
  const log = new OutputLog(path, 1_000_000);
  const event = { type: 'node-start', run: 1, path: 'F/Ä' };
  let line = '';
  new MarkedLineWriter((text) => (line = text)).write(event);
  log.append('stdout', Buffer.from(`before${line.slice(0, 20)}`));
  log.append('stdout', Buffer.from(`${line.slice(20)}after`));
  log.close();
  assert.deepEqual((await readOutput(path, 0))?.events, [
    { type: 'log', data: { stream: 'stdout', text: 'before' } },
    { type: 'flow', data: event },
    { type: 'log', data: { stream: 'stdout', text: 'after' } },
  ]);
});
