import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { farwharfHome } from '../../../../src/core/files/home.ts';

test('the home is the folder that is set, whatever the platform', () => {
  assert.equal(farwharfHome({ FARWHARF_HOME: '/srv/home', XDG_DATA_HOME: '/data' }), '/srv/home');
});

test('on Linux the home is in the data folder of the user, also if that is set to nothing', (t) => {
  if (process.platform !== 'linux') return t.skip('other systems have other folders');
  assert.equal(farwharfHome({ FARWHARF_HOME: '', XDG_DATA_HOME: '/data' }), '/data/farwharf');
  const usual = join(homedir(), '.local/share/farwharf');
  assert.deepEqual([farwharfHome({}), farwharfHome({ XDG_DATA_HOME: '' })], [usual, usual]);
});

test('on Windows and macOS the home is in the folder for the data of programs', () => {
  assert.equal(farwharfHome({ LOCALAPPDATA: '/local' }, 'win32'), join('/local', 'farwharf'));
  assert.equal(farwharfHome({ XDG_DATA_HOME: '/data' }, 'win32'), join(homedir(), 'AppData', 'Local', 'farwharf'));
  const support = join(homedir(), 'Library', 'Application Support', 'farwharf');
  assert.equal(farwharfHome({ XDG_DATA_HOME: '/data', LOCALAPPDATA: '/local' }, 'darwin'), support);
  assert.equal(farwharfHome({ FARWHARF_HOME: '/srv/home' }, 'darwin'), '/srv/home');
});
