import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggestScripts } from '../../../../src/jobs/selection/scriptSuggestions.ts';
import { findScript, firstDraft, memoryOf, REQUIREMENTS_VENV } from '../../../../src/jobs/submit/draft.ts';

const files = ['train.py', 'my script.py'].map((path) => ({ path, size: 1, mode: 0o644, mtimeMs: 0 }));
const folderWith = (scripts: readonly string[]) => ({ root: '/w', scripts: suggestScripts(files, scripts) });
const defaults = { maxRuntime: 3600, machineClass: '', project: '' };
const rates = ['small', 'a10g'].map((machineClass) => ({ machineClass, creditsPerMinute: 1, description: null }));

test('the script is the one asked for, else the last one while its file is there, else a question', () => {
  const scripts = ['train.py --epochs 3', 'other.py'];
  assert.equal(findScript({ script: 'a.py', file: '/w/train.py' }, folderWith(scripts), { scripts }), 'a.py');
  assert.equal(findScript({ file: '/w/train.py' }, folderWith(scripts), { scripts }), 'train.py --epochs 3');
  assert.equal(findScript({ file: '/w/my script.py' }, folderWith(scripts), { scripts }), '"my script.py"');
  assert.equal(findScript({}, folderWith(scripts), { scripts }), 'train.py --epochs 3');
  assert.equal(findScript({ file: '/elsewhere/a.py' }, folderWith(['gone.py']), { scripts: ['gone.py'] }), undefined);
  assert.equal(findScript({}, folderWith([]), { scripts: [] }), undefined);
});

test('a term comes from the intent, then from memory, then from the settings', () => {
  const memory = { scripts: [], maxRuntime: 60, project: 'tides', include: ['.env'], usesRequirements: true };
  const set = { maxRuntime: 7200, machineClass: 'small', project: 'waves' };
  assert.deepEqual(firstDraft({ maxRuntime: 5, machineClass: 'a10g' }, 'a.py', { memory, defaults: set, rates }), {
    script: 'a.py',
    maxRuntime: 5,
    machineClass: 'a10g',
    project: 'tides',
    venv: REQUIREMENTS_VENV,
    include: ['.env'],
    exclude: [],
  });
  const bare = firstDraft({}, 'a.py', { memory: { scripts: [] }, defaults, rates });
  assert.deepEqual(bare, { script: 'a.py', maxRuntime: 3600, include: [], exclude: [] });
});

test('the machine class chosen last counts only where the service still has it, and a single class needs no choice', () => {
  const classOf = (machineClass: string, card: typeof rates) =>
    firstDraft({}, 'a.py', { memory: { scripts: [], machineClass }, defaults, rates: card }).machineClass;
  assert.equal(classOf('a10g', rates), 'a10g');
  assert.equal(classOf('h100', rates), undefined);
  assert.equal(classOf('h100', rates.slice(0, 1)), 'small');
});

test('what is remembered of a draft makes the same draft again', () => {
  const draft = {
    script: 'a.py',
    maxRuntime: 60,
    machineClass: 'a10g',
    project: 'tides',
    venv: REQUIREMENTS_VENV,
    include: ['.env'],
    exclude: ['big.bin'],
  };
  const memory = { scripts: [], ...memoryOf(draft, undefined) };
  assert.deepEqual(firstDraft({}, 'a.py', { memory, defaults, rates }), draft);
});
