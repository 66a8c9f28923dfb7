import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderToSubmit, onDisk } from '../../../../src/extension/workspace/folderToSubmit.ts';

const folder = (fsPath: string, scheme = 'file') => ({ uri: { scheme, fsPath } });
const [app, library, inner] = [folder('/w/app'), folder('/w/library'), folder('/w/app/inner')];
const remote = folder('/w/virtual', 'vscode-vfs');

test('the innermost workspace folder that contains the file is submitted', () => {
  const all = [app, library, inner];
  assert.equal(folderToSubmit(all, { file: '/w/app/main.py' }), app);
  assert.equal(folderToSubmit(all, { file: '/w/app/inner/main.py' }), inner);
  assert.equal(folderToSubmit(all, { folder: '/w/library' }), library);
  assert.equal(folderToSubmit([library], {}), library);
  assert.equal(folderToSubmit(all, {}), undefined, 'a person picks');
});

test('a folder that is not on a local disk or not open in this window is never submitted', () => {
  assert.deepEqual(onDisk([remote, app]), [app]);
  assert.throws(() => folderToSubmit([], {}), { code: 'no-folder' });
  assert.throws(() => folderToSubmit([remote], {}), { code: 'refused', message: /virtual/ });
  for (const wanted of [
    { folder: '/w/virtual' },
    { folder: '/w' },
    { folder: '/w/app/../../etc' },
    { file: '/w/virtual/a.py' },
    { file: '/etc/passwd' },
    { file: '/w/app/../../etc/passwd' },
    { file: '/w/application/a.py' },
  ]) {
    assert.throws(() => folderToSubmit([remote, app, library], wanted), { code: 'bad-input' }, JSON.stringify(wanted));
  }
});
