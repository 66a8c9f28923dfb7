import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { LogFile } from '../../../../src/service/log/logFile.ts';

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-log-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a log is bounded in size and in number, and no line is cut', (t) => {
  const folder = temporaryFolder(t);
  const file = new LogFile(join(folder, 'deep', 'service.log'), { maxBytes: 100, keep: 2 });
  for (let line = 0; line < 40; line += 1) file.write(`line ${line} ${'x'.repeat(20)}`);
  file.dispose();
  assert.deepEqual(readdirSync(join(folder, 'deep')), ['service.log', 'service.log.1', 'service.log.2']);
  const texts = ['service.log.2', 'service.log.1', 'service.log'].map((name) =>
    readFileSync(join(folder, 'deep', name), 'utf8'),
  );
  for (const text of texts) assert.ok(text.length <= 100 && text.endsWith('\n'));
  const numbers = [...texts.join('').matchAll(/^line (\d+) x{20}$/gm)].map(([, number]) => Number(number));
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => 40 - numbers.length + index),
  );
  assert.equal(statSync(join(folder, 'deep', 'service.log')).mode & 0o777, 0o600);
});

test('a log that is begun again goes on where it was, and counts what is there', (t) => {
  const path = join(temporaryFolder(t), 'service.log');
  writeFileSync(path, `${'x'.repeat(80)}\n`);
  const file = new LogFile(path, { maxBytes: 100, keep: 1 });
  file.write('y'.repeat(50));
  file.dispose();
  assert.equal(readFileSync(path, 'utf8'), `${'y'.repeat(50)}\n`);
  assert.equal(readFileSync(`${path}.1`, 'utf8'), `${'x'.repeat(80)}\n`);
});

test('with none to keep, a full log is begun anew', (t) => {
  const folder = temporaryFolder(t);
  const file = new LogFile(join(folder, 'service.log'), { maxBytes: 20, keep: 0 });
  for (const line of ['0123456789', 'abcdefghij', 'ABCDEFGHIJ']) file.write(line);
  file.dispose();
  assert.deepEqual(readdirSync(folder), ['service.log']);
  assert.equal(readFileSync(join(folder, 'service.log'), 'utf8'), 'ABCDEFGHIJ\n');
});

test('after somebody moved the file away, it is opened anew', (t) => {
  const path = join(temporaryFolder(t), 'service.log');
  const file = new LogFile(path, { maxBytes: 1_000, keep: 1 });
  file.write('before');
  renameSync(path, `${path}.moved`);
  file.write('still there');
  file.reopen();
  file.write('after');
  file.dispose();
  assert.equal(readFileSync(`${path}.moved`, 'utf8'), 'before\nstill there\n');
  assert.equal(readFileSync(path, 'utf8'), 'after\n');
});

test('a log that cannot be written is refused with what to do', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => new LogFile(join(folder, 'file', 'service.log'), { maxBytes: 1, keep: 1 }), {
    code: 'permission',
    message: /cannot be written: .*Choose another one with --log/,
  });
});

test('a log that cannot be set aside is written on', (t) => {
  const path = join(temporaryFolder(t), 'service.log');
  mkdirSync(`${path}.1`);
  const file = new LogFile(path, { maxBytes: 20, keep: 1 });
  for (const line of ['0123456789', 'abcdefghij', 'ABCDEFGHIJ']) file.write(line);
  rmSync(`${path}.1`, { recursive: true });
  file.write('last');
  file.dispose();
  assert.equal(readFileSync(`${path}.1`, 'utf8'), '0123456789\nabcdefghij\nABCDEFGHIJ\n');
  assert.equal(readFileSync(path, 'utf8'), 'last\n');
});
