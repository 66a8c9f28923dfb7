import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { assertStarts } from '../../../../../src/service/runner/program/programFile.ts';

const everything = (): boolean => true;

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-program-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a pipe in the place of a script is no program, and nobody waits for it', (t) => {
  const file = join(temporaryFolder(t), 'script');
  execFileSync('mkfifo', [file]);
  chmodSync(file, 0o755);
  assert.throws(() => assertStarts(file, everything), { code: 'EACCES' });
});

test('a program or an interpreter that the job cannot see is not there, whether it is outside or not', (t) => {
  const folder = temporaryFolder(t);
  const outside = join(folder, 'outside');
  writeFileSync(outside, '#!/bin/sh\n', { mode: 0o755 });
  const isVisible = (path: string): boolean => path.startsWith(join(folder, 'workspace'));
  assert.throws(() => assertStarts(outside, isVisible), { code: 'ENOENT' });
  for (const interpreter of [outside, join(folder, 'missing')]) {
    const script = join(folder, 'workspace-script');
    writeFileSync(script, `#!${interpreter}\n`, { mode: 0o755 });
    assert.throws(() => assertStarts(script, isVisible), { code: 'ENOENT' });
  }
  const link = join(folder, 'workspace-link');
  symlinkSync(outside, link);
  assert.doesNotThrow(() => assertStarts(link, everything));
});
