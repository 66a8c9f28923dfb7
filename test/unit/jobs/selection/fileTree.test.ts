import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkState, chooseToSend, type FileChoice, listLevel } from '../../../../src/jobs/selection/fileTree.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { temporaryFolder, writeTree } from '../../workspace/temporaryFolder.ts';

const NOTHING: FileChoice = { include: [], exclude: [] };

test('each level of a folder lists what is sent and what is left out, with the rule and its line', async (t) => {
  const folder = temporaryFolder(t);
  writeTree(folder, {
    'train.py': 'print(1)',
    'src/a.py': 'a',
    'src/notes.log': 'log',
    'src/.gitignore': '# logs\n*.log\n',
    'node_modules/x/index.js': 'x',
    '.env': 'KEY=1',
  });
  const selections = new Selections();
  const { id } = await selections.select(folder, { isTrusted: false });
  const top = await selections.listLevel(id, '');
  assert.deepEqual(
    top.entries.map(({ path, isFolder, sent, leftOut, exclusion }) => [
      path,
      isFolder,
      sent,
      leftOut,
      exclusion?.reason,
    ]),
    [
      ['node_modules', true, 0, 0, 'cache'],
      ['src', true, 2, 1, undefined],
      ['.env', false, 0, 0, 'secret'],
      ['train.py', false, 1, 0, undefined],
    ],
  );
  const { entries } = await selections.listLevel(id, 'src');
  const log = entries.find(({ name }) => name === 'notes.log');
  assert.deepEqual(
    [log?.path, log?.exclusion?.rule, log?.exclusion?.at],
    ['src/notes.log', '*.log', 'src/.gitignore:2'],
  );
  assert.deepEqual(await selections.listLevel(id, 'elsewhere'), { entries: [], more: 0 });
});

test('a level with too many entries says how many it does not list', () => {
  const files = Array.from({ length: 30 }, (_, at) => ({ path: `f${at}`, size: 1, mode: 0o644, mtimeMs: 0 }));
  const { entries, more } = listLevel({ files, excluded: [], findings: [] }, '', 10);
  assert.deepEqual([entries.length, more], [10, 20]);
});

test('a choice is undone by its opposite, and otherwise stands against the rules', () => {
  const left = chooseToSend(NOTHING, 'data', false);
  assert.deepEqual(left, { include: [], exclude: ['data'] });
  assert.deepEqual(chooseToSend(left, 'data', true), NOTHING);
  const sent = chooseToSend(NOTHING, '.env', true);
  assert.deepEqual(sent, { include: ['.env'], exclude: [] });
  assert.deepEqual(chooseToSend(sent, '.env', true), sent);
  assert.deepEqual(chooseToSend(sent, '.env', false), NOTHING);
});

test('only entries that the user can decide about have a check mark', () => {
  const entry = { path: 'data/x', name: 'x', isFolder: false, sent: 1, sentBytes: 1, leftOut: 0 };
  const excluded = { ...entry, sent: 0, exclusion: { path: 'data/x', type: 'file', reason: 'gitignore' } } as const;
  assert.equal(checkState(entry, NOTHING), true);
  assert.equal(checkState(excluded, NOTHING), false);
  assert.equal(checkState(excluded, { exclude: ['data/x'] }), false);
  assert.equal(checkState(excluded, { exclude: ['data'] }), undefined, 'the folder above decides');
  assert.equal(
    checkState({ ...excluded, exclusion: { ...excluded.exclusion, reason: 'special' } }, NOTHING),
    undefined,
  );
  assert.equal(checkState({ ...excluded, exclusion: { ...excluded.exclusion, reason: 'link' } }, NOTHING), false);
  assert.equal(checkState({ ...entry, isFolder: true, sent: 0, leftOut: 3 }, NOTHING), undefined);
});

test('an entry counts what is in it, and itself only as what it is', () => {
  const files = ['a/1', 'a/2', 'a/b/3', 'ab', 'z'].map((path, index) => ({
    path,
    size: index + 1,
    mode: 0o644,
    mtimeMs: 0,
  }));
  const excluded = [
    { path: 'a/x', type: 'file', reason: 'cache' },
    { path: 'a/b', type: 'directory', reason: 'gitignore' },
    { path: 'out', type: 'directory', reason: 'venv' },
    { path: 'link', type: 'file', reason: 'link' },
  ] as const;
  const findings = [{ type: 'link', path: 'z', message: '', target: '/scratch/z' }] as const;
  const top = listLevel({ files, excluded, findings }, '');
  assert.deepEqual(top, {
    entries: [
      { path: 'a', name: 'a', isFolder: true, sent: 3, sentBytes: 6, leftOut: 2 },
      { path: 'out', name: 'out', isFolder: true, sent: 0, sentBytes: 0, leftOut: 0, exclusion: excluded[2] },
      { path: 'ab', name: 'ab', isFolder: false, sent: 1, sentBytes: 4, leftOut: 0 },
      { path: 'link', name: 'link', isFolder: false, sent: 0, sentBytes: 0, leftOut: 0, exclusion: excluded[3] },
      { path: 'z', name: 'z', isFolder: false, sent: 1, sentBytes: 5, leftOut: 0, target: '/scratch/z' },
    ],
    more: 0,
  });
  assert.deepEqual(
    listLevel({ files, excluded, findings }, 'a').entries.map(({ path, name, isFolder, sent }) => [
      path,
      name,
      isFolder,
      sent,
    ]),
    [
      ['a/b', 'b', true, 1],
      ['a/1', '1', false, 1],
      ['a/2', '2', false, 1],
      ['a/x', 'x', false, 0],
    ],
  );
  assert.deepEqual(listLevel({ files, excluded, findings }, '', 5).more, 0);
});

test('a path that no rule can send has no check mark, and one whose folder was left out has none of its own', () => {
  const entry = { path: 'data/x', name: 'x', isFolder: false, sent: 0, sentBytes: 0, leftOut: 0 };
  for (const [reason, state] of [
    ['link', false],
    ['name', undefined],
    ['special', undefined],
    ['unreadable', undefined],
    ['limit', undefined],
    ['secret', false],
    ['cache', false],
    ['git', false],
  ] as const) {
    const exclusion = { path: 'data/x', type: 'file', reason } as const;
    assert.equal(checkState({ ...entry, exclusion }, NOTHING), state, reason);
  }
  assert.equal(checkState({ ...entry, sent: 1 }, { exclude: ['dat', 'data/xy'] }), true);
  assert.equal(checkState({ ...entry, sent: 1 }, { exclude: ['data/x'] }), false);
});

test('leaving out is undone and chosen like sending', () => {
  const chosen = { include: ['a', 'b'], exclude: ['c', 'd'] };
  assert.deepEqual(chooseToSend(chosen, 'a', false), { include: ['b'], exclude: ['c', 'd'] });
  assert.deepEqual(chooseToSend(chosen, 'c', true), { include: ['a', 'b'], exclude: ['d'] });
  assert.deepEqual(chooseToSend(chosen, 'c', false), chosen);
  assert.deepEqual(chooseToSend(chosen, 'e', false), { include: ['a', 'b'], exclude: ['c', 'd', 'e'] });
});
