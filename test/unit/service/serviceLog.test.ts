import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Redactor } from '../../../src/core/redact.ts';
import { DEFAULT_CONFIG } from '../../../src/service/serviceConfig.ts';
import { ServiceLogFile, openServiceLog } from '../../../src/service/serviceLog.ts';

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-log-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a log appends to its file, which only its user can read', (t) => {
  const path = join(temporaryFolder(t), 'deep', 'service.log');
  for (const line of ['first', 'second']) {
    const file = new ServiceLogFile(path);
    file.write(line);
    file.dispose();
  }
  assert.equal(readFileSync(path, 'utf8'), 'first\nsecond\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('after its file was renamed, a log writes to it until it is reopened', (t) => {
  const path = join(temporaryFolder(t), 'service.log');
  const file = new ServiceLogFile(path);
  file.write('before');
  renameSync(path, `${path}.1`);
  file.write('still there');
  file.reopen();
  file.write('after');
  file.dispose();
  assert.equal(readFileSync(`${path}.1`, 'utf8'), 'before\nstill there\n');
  assert.equal(readFileSync(path, 'utf8'), 'after\n');
});

test('a log that cannot be reopened stays in the renamed file, and says so there', (t) => {
  const path = join(temporaryFolder(t), 'service.log');
  const service = openServiceLog({ ...DEFAULT_CONFIG.log, file: path }, new Redactor(), () => {});
  renameSync(path, `${path}.1`);
  mkdirSync(path);
  service.reopen();
  service.log.info('still written');
  service.dispose();
  assert.match(readFileSync(`${path}.1`, 'utf8'), /could not be reopened[^]*still written\n$/);
});

test('a log that cannot be written is refused with what to do', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => new ServiceLogFile(join(folder, 'file', 'service.log')), {
    code: 'permission',
    message: /cannot be written: .*Choose another one with --log/,
  });
});
