import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { OutputLog } from '../../../../../src/service/runner/output/outputLog.ts';
import { temporaryFolder } from '../../../workspace/temporaryFolder.ts';

const READ_BYTES = 64 * 1024;

function open(t: TestContext) {
  const path = join(temporaryFolder(t), 'output.ndjson');
  const log = new OutputLog(path, 1e9);
  const lines = (): readonly string[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  const texts = () => lines().map((line) => (JSON.parse(line) as { stream: string; text: string }).text);
  return { log, texts };
}

test('a line that the end of a read has cut stays whole beside the other stream', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { log, texts } = open(t);
  const output = Buffer.from('0123456789 ünïcödé\n'.repeat(10_000));
  for (let start = 0; start < output.length; start += READ_BYTES) {
    log.append('stdout', output.subarray(start, start + READ_BYTES));
    log.append('stderr', Buffer.from('ERROR\n'));
  }
  log.close();
  const others = texts().filter((text) => text !== 'ERROR\n');
  assert.equal(others.join(''), output.toString());
  assert.ok(others.length > 1 && others.every((text) => text.endsWith('\n')));
});

test('the start of a line is stored when nothing follows, and a short read at once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { log, texts } = open(t);
  log.append('stdout', Buffer.from('Name? '));
  assert.deepEqual(texts(), ['Name? ']);
  log.append('stdout', Buffer.from(`${'x'.repeat(READ_BYTES - 7)}\nName? `));
  assert.equal(texts().at(-1)?.endsWith('x\n'), true);
  t.mock.timers.tick(1_000);
  assert.equal(texts().at(-1), 'Name? ');
  log.close();
});

test('a line longer than a read is stored piece by piece', (t) => {
  const { log, texts } = open(t);
  log.append('stdout', Buffer.alloc(READ_BYTES, 'x'));
  assert.equal(texts().join('').length, READ_BYTES);
  log.close();
});
