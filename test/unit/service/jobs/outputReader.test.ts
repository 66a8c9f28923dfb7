import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MarkedLineWriter } from '../../../../src/core/text/markedLines.ts';
import type { LogEventData } from '../../../../src/remote/protocol/schemas.ts';
import { type OutputPage, readOutputPage } from '../../../../src/service/jobs/outputReader.ts';
import { OutputLog } from '../../../../src/service/runner/output/outputLog.ts';

/** As from this machine and as over a network: there is no difference but the way to it. */
async function read(path: string, offset: number): Promise<OutputPage | undefined> {
  const page = await readOutputPage(path, offset, true);
  assert.deepEqual(await readOutputPage(path, offset, false), page);
  return page;
}

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
  assert.equal(await read(path, 0), undefined);
  const log = new OutputLog(path, 1_000_000);
  const euro = Buffer.from('€');
  log.append('stdout', euro.subarray(0, 1));
  log.append('stderr', Buffer.from('problem'));
  log.append('stdout', euro.subarray(1));
  log.append('stdout', Buffer.from(' more\n'));
  const page = await read(path, 0);
  assert.deepEqual(textsOf(page), [
    { stream: 'stderr', text: 'problem' },
    { stream: 'stdout', text: '€ more\n' },
  ]);
  assert.equal(await read(path, page?.offset ?? 0), undefined);
  log.close();
});

test('usage is read between the output, and frames that no runner wrote are not', async (t) => {
  const path = logPath(t);
  const log = new OutputLog(path, 10);
  const usage = { at: '2026-01-01T00:00:00.000Z', cpu_cores: 1.5, memory_bytes: 7e8 };
  log.append('stdout', Buffer.from('more than the log stores\n'));
  log.usage(usage);
  log.close();
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  const forged = ['{}', '{"at":"","cpu_cores":-1}', '{"at":"","cpu_cores":1e999}', '{"at":1}', '[]'];
  appendFileSync(path, forged.map((each) => `{"usage":${each}}\n`).join(''));
  appendFileSync(path, `{"usage":{"at":"","deep":${deep}}}\n`);
  const events = (await read(path, 0))?.events.filter(({ type }) => type === 'usage');
  assert.deepEqual(events, [
    { type: 'usage', data: usage },
    { type: 'usage', data: { at: '' } },
  ]);
});

test('a link or a pipe in its place is neither followed nor waited for', async (t) => {
  const path = logPath(t);
  for (const place of [() => symlinkSync('/etc/hostname', path), () => execFileSync('mkfifo', [path])]) {
    place();
    await assert.rejects(
      readOutputPage(path, 0, false),
      /output\.ndjson was changed by something other than the service/,
    );
    await assert.rejects(
      readOutputPage(path, 0, true),
      /output\.ndjson was changed by something other than the service/,
    );
    rmSync(path);
  }
});

test('half a line, as a crash leaves it, is not read', async (t) => {
  const path = logPath(t);
  writeFileSync(path, '{"stream":"stdout","text":"whole"}\n{"stream":"stdout","te');
  const page = await read(path, 0);
  assert.deepEqual(page, {
    events: [{ type: 'log', data: { stream: 'stdout', text: 'whole' } }],
    offset: 35,
    isAll: true,
  });
  assert.equal(await read(path, 35), undefined);
  appendFileSync(path, 'xt":"rest"}\n');
  assert.deepEqual(textsOf(await read(path, 35)), [{ stream: 'stdout', text: 'rest' }]);
});

test('lines that no runner wrote are passed over', async (t) => {
  const path = logPath(t);
  writeFileSync(path, 'noise\n[]\n{"stream":"other","text":"x"}\n{"stream":"stdout","text":"good"}\n');
  assert.deepEqual(textsOf(await read(path, 0)), [{ stream: 'stdout', text: 'good' }]);
  writeFileSync(path, `${'x'.repeat(3_000_000)}\n{"stream":"stdout","text":"good"}\n`);
  let offset = 0;
  const texts: string[] = [];
  for (let page = await read(path, 0); page !== undefined; page = await read(path, offset)) {
    offset = page.offset;
    texts.push(...textsOf(page).map(({ text }) => text));
  }
  assert.deepEqual(texts, ['good']);
});

test('output beyond the limit is not kept but for its end, the log says so once, and the file stays small', async (t) => {
  const path = logPath(t);
  const log = new OutputLog(path, 100_000);
  const line = (number: number): string => `${String(number).padStart(7, '0')} ${'x'.repeat(91)}\n`;
  for (let number = 0; number < 20_000; number += 1) log.append('stdout', Buffer.from(line(number)));
  log.append('stderr', Buffer.from('it failed\n'));
  log.close();
  assert.ok(statSync(path).size < 100_000 + 256 * 1024 + 1_000, `${statSync(path).size} bytes`);
  const text = textsOf(await read(path, 0))
    .map((piece) => piece.text)
    .join('');
  const [head = '', rest = ''] = text.split('\n[output after 100 KB is not stored]\n');
  assert.match(head, /^0000000 x{91}\n0000001 /);
  assert.match(rest, /^\n\[2\.\d MB of output were omitted; this is the end of it\]\n/);
  assert.ok(rest.endsWith(`${line(19_999)}it failed\n`));
  const numbers = (part: string): number[] => [...part.matchAll(/^(\d{7}) /gm)].map(([, digits]) => Number(digits));
  const kept = numbers(head);
  assert.deepEqual(
    kept,
    Array.from(kept, (_, index) => index),
  );
  const last = numbers(rest);
  assert.deepEqual(
    last,
    Array.from(last, (_, index) => 20_000 - last.length + index),
  );
});

test('output that is a little too long loses nothing, and what the runner says is always kept', async (t) => {
  const path = logPath(t);
  const log = new OutputLog(path, 100);
  log.append('stdout', Buffer.from('a'.repeat(60)));
  log.append('stdout', Buffer.from('b'.repeat(60)));
  log.note('The runner says something.');
  log.close();
  const text = textsOf(await read(path, 0))
    .map((piece) => piece.text)
    .join('');
  const expected = [
    'a'.repeat(60),
    '\n[output after 100 B is not stored]\n',
    'farwharf: The runner says something.\n',
    '\n[0 B of output were omitted; this is the end of it]\n',
    'b'.repeat(60),
  ];
  assert.equal(text, expected.join(''));
});

test('what a flow reports about its run becomes an event of its own and leaves the log', async (t) => {
  const path = logPath(t);
  const log = new OutputLog(path, 1_000_000);
  const event = { type: 'node-start', run: 1, path: 'F/Ä' };
  let line = '';
  new MarkedLineWriter((text) => (line = text)).write(event);
  log.append('stdout', Buffer.from(`before${line.slice(0, 20)}`));
  log.append('stdout', Buffer.from(`${line.slice(20)}after`));
  log.close();
  assert.deepEqual((await read(path, 0))?.events, [
    { type: 'log', data: { stream: 'stdout', text: 'before' } },
    { type: 'flow', data: event },
    { type: 'log', data: { stream: 'stdout', text: 'after' } },
  ]);
});
