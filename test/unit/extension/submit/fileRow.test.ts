import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileRow } from '../../../../src/extension/submit/preflight/fileRow.ts';
import { ruleLocation } from '../../../../src/extension/submit/preflight/ruleLocation.ts';

const file = { path: 'a.py', name: 'a.py', isFolder: false, sent: 1, sentBytes: 2000, leftOut: 0 };

test('a row says how much is sent, or why not and where the rule is', () => {
  const { label, description, spoken, rule } = fileRow(file);
  assert.deepEqual([label, description, spoken, rule], ['a.py', '2.0 KB', 'a.py, sent, 2.0 KB', undefined]);
  const folder = { ...file, name: 'src', isFolder: true, sent: 3, leftOut: 2 };
  assert.equal(fileRow(folder).description, '3 files, 2.0 KB · 2 left out');
  assert.equal(fileRow({ ...folder, sent: 0 }).description, '2 left out');
  const exclusion = { path: 'a.py', type: 'file', reason: 'gitignore', rule: '*.py', at: '.gitignore:3' } as const;
  const left = fileRow({ ...file, sent: 0, sentBytes: 0, exclusion });
  assert.deepEqual([left.description, left.rule], ['ignored by git: *.py (.gitignore:3)', '.gitignore:3']);
  assert.match(left.spoken, /^a\.py, left out, /);
});

test('a hostile name is shown as one line without icons', () => {
  assert.equal(fileRow({ ...file, name: '$(check) a\n\u001b[31mb' }).label.includes('\n'), false);
  assert.equal(fileRow({ ...file, name: '$(check)' }).label.includes('$('), false);
});

test('the location of a rule is a file in the folder, above it, or in the home folder', () => {
  const root = resolve('/w/project');
  assert.deepEqual(ruleLocation(root, 'sub/.gitignore:3'), { path: join(root, 'sub/.gitignore'), line: 3 });
  assert.deepEqual(ruleLocation(root, '../.gitignore:12'), { path: resolve('/w/.gitignore'), line: 12 });
  assert.deepEqual(ruleLocation(root, '~/.config/git/ignore:1'), {
    path: join(homedir(), '.config/git/ignore'),
    line: 1,
  });
  assert.equal(ruleLocation(root, 'excluded by you'), undefined);
});
