import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MarkedLineReader, textOf } from '../../../../src/core/text/markedLines.ts';
import { readOutputPage } from '../../../../src/service/jobs/outputReader.ts';
import { OutputLog } from '../../../../src/service/runner/output/outputLog.ts';
import { randomFrom, TIMES } from '../../../random.ts';
import { heldMegabytes } from '../../heldMemory.ts';
import { hostileOutput, markedLines } from '../../../service/support/hostileOutput.ts';

const SEEDS = 3 * TIMES;

function logPath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-fuzz-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'output.ndjson');
}

test('whatever a job prints is taken into its log within the limit, and read from there as events that can be sent', async (t) => {
  const path = logPath(t);
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = randomFrom(seed);
    rmSync(path, { force: true });
    const maxBytes = 1_000_000;
    const log = new OutputLog(path, maxBytes);
    for (let chunks = 0; chunks < 20; chunks += 1) {
      const bytes = hostileOutput(random, 3);
      for (let at = 0; at < bytes.length; at += 65_536) {
        log.append(random() < 0.5 ? 'stdout' : 'stderr', bytes.subarray(at, at + 65_536));
      }
    }
    log.note('the end');
    log.close();
    assert.ok(statSync(path).size < maxBytes + 400_000, `seed ${seed}: ${statSync(path).size} bytes`);
    let offset = 0;
    for (
      let page = await readOutputPage(path, 0, true);
      page !== undefined;
      page = await readOutputPage(path, offset, true)
    ) {
      assert.ok(page.offset > offset, `seed ${seed} continues`);
      offset = page.offset;
      for (const event of page.events) structuredClone(JSON.parse(JSON.stringify(event)));
    }
    assert.equal(offset, statSync(path).size, `seed ${seed}: all of it was read`);
  }
});

test('text that is no marked line comes out as it went in, wherever it is cut', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = randomFrom(seed);
    // No line of this text is a marked one, but it is full of what looks like the beginning of one.
    const text = hostileOutput(random, 5)
      .toString('latin1')
      .replaceAll(/:[0-9a-f]{8}:/g, ':0000000g:');
    const reader = new MarkedLineReader();
    let read = '';
    for (let at = 0; at < text.length; ) {
      const length = 1 + Math.floor(random() * 10_000);
      read += textOf(reader.push(text.slice(at, at + length)));
      at += length;
    }
    read += textOf(reader.end());
    assert.ok(read === text, `seed ${seed}`);
  }
});

test('marked lines of which each could be the first of a large value are not kept for ever', {
  timeout: 120_000,
}, () => {
  const reader = new MarkedLineReader();
  const writer = 'eeeeeeee';
  const [line = ''] = markedLines(`"${'x'.repeat(5_900)}`, { writer }).split(/(?<=\n)/);
  const before = heldMegabytes();
  // 90 MB of beginnings, one of each writer, and one value of 10 MB.
  for (let index = 0; index < 15_000; index += 1) {
    assert.deepEqual(reader.push(line.replace(writer, index.toString(16).padStart(8, '0'))), []);
  }
  for (const line of markedLines(`"${'y'.repeat(99_000 * 100)}"`, { partLength: 100, writer: 'ffffffff' }).split(
    /(?<=\n)/,
  )) {
    reader.push(line);
  }
  assert.ok(heldMegabytes() - before < 50);
  reader.end();
});

test('marks without an end take a time that grows with their number and no faster', { timeout: 120_000 }, () => {
  const reader = new MarkedLineReader();
  const text = '@@farwharf/flow:1:'.repeat(400_000);
  assert.equal(textOf([...reader.push(text), ...reader.end()]), text);
});

test('a log of a job that writes there itself ends the reading, and does not hold it up', async (t) => {
  const path = logPath(t);
  writeFileSync(path, '{"}\n'.repeat(200_000));
  await assert.rejects(readOutputPage(path, 0, true), /output\.ndjson was changed by something other than the service/);
  const nested = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
  writeFileSync(path, `{"flow":{"type":"x","run":1,"a":${nested}}}\n{"stream":"stdout","text":"x","a":${nested}}\n`);
  const page = await readOutputPage(path, 0, true);
  assert.doesNotThrow(() => JSON.stringify(page));
});
