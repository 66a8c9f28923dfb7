import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggestScripts } from '../../../../src/jobs/selection/scriptSuggestions.ts';
import { findStarted, firstDraft, memoryOf, withPackages } from '../../../../src/jobs/plan/draft.ts';

const files = ['train.py', 'my script.py'].map((path) => ({ path, size: 1, mode: 0o644, mtimeMs: 0 }));
const folderWith = (scripts: readonly string[]) => ({ root: '/w', scripts: suggestScripts(files, scripts) });
const defaults = { maxRuntime: 3600, machineClass: '', project: '' };
const rates = ['small', 'a10g'].map((machineClass) => ({ machineClass, creditsPerMinute: 1, description: null }));

test('the script is the one asked for, else the last one while its file is there, else a question', () => {
  const scripts = ['train.py --epochs 3', 'other.py'];
  assert.deepEqual(findStarted({ script: 'a.py', file: '/w/train.py' }, folderWith(scripts), { scripts }), {
    script: 'a.py',
  });
  assert.deepEqual(findStarted({ file: '/w/train.py' }, folderWith(scripts), { scripts }), {
    script: 'train.py --epochs 3',
  });
  assert.deepEqual(findStarted({ file: '/w/my script.py' }, folderWith(scripts), { scripts }), {
    script: '"my script.py"',
  });
  assert.deepEqual(findStarted({}, folderWith(scripts), { scripts }), { script: 'train.py --epochs 3' });
  assert.equal(findStarted({ file: '/elsewhere/a.py' }, folderWith(['gone.py']), { scripts: ['gone.py'] }), undefined);
  assert.equal(findStarted({}, folderWith([]), { scripts: [] }), undefined);
});

test('a term comes from the intent, then from memory, then from the settings', () => {
  const memory = { scripts: [], maxRuntime: 60, project: 'tides', include: ['.env'], packages: 'requirements.txt' };
  const set = { maxRuntime: 7200, machineClass: 'small', project: 'waves' };
  assert.deepEqual(
    firstDraft({ maxRuntime: 5, machineClass: 'a10g' }, { script: 'a.py' }, { memory, defaults: set, rates }),
    {
      script: 'a.py',
      maxRuntime: 5,
      machineClass: 'a10g',
      project: 'tides',
      venv: { requirements: 'requirements.txt' },
      include: ['.env'],
      exclude: [],
    },
  );
  const bare = firstDraft({}, { script: 'a.py' }, { memory: { scripts: [] }, defaults, rates });
  assert.deepEqual(bare, { script: 'a.py', maxRuntime: 3600, include: [], exclude: [] });
});

test('the machine class chosen last counts only where the service still has it, and a single class needs no choice', () => {
  const classOf = (machineClass: string, card: typeof rates) =>
    firstDraft({}, { script: 'a.py' }, { memory: { scripts: [], machineClass }, defaults, rates: card }).machineClass;
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
    venv: { requirements: 'requirements.txt' },
    include: ['.env'],
    exclude: ['big.bin'],
  };
  const memory = { scripts: [], ...memoryOf(draft, undefined) };
  assert.deepEqual(firstDraft({}, { script: 'a.py' }, { memory, defaults, rates }), draft);
});

test('a batch script asks for its machine itself, and leaves what is remembered of the terms as it was', () => {
  const batch = { source: 'a.sbatch', remarks: [], request: undefined };
  const memory = { scripts: [], machineClass: 'a10g' };
  const set = { maxRuntime: 60, machineClass: 'small', project: '' };
  assert.equal(firstDraft({ batch }, { script: 'a' }, { memory, defaults: set, rates }).machineClass, undefined);
  assert.equal(firstDraft({}, { script: 'a' }, { memory, defaults: set, rates }).machineClass, 'small');
  const draft = firstDraft(
    { batch, machineClass: 'a10g', maxRuntime: 5, project: 'p' },
    { script: 'a' },
    {
      memory,
      defaults: set,
      rates,
    },
  );
  assert.deepEqual([draft.machineClass, draft.batch], ['a10g', batch]);
  assert.deepEqual(memoryOf(draft, undefined, { maxRuntime: 7, machineClass: 'x', project: 'y' }), {
    include: [],
    exclude: [],
    maxRuntime: 7,
    machineClass: 'x',
    project: 'y',
  });
  assert.deepEqual(memoryOf(draft, undefined), { include: [], exclude: [] });
});

test('every term of an intent wins, an empty one is none, and all of them are remembered with the agreement', () => {
  const memory = {
    scripts: [],
    maxRuntime: 1,
    machineClass: 'small',
    project: 'old',
    packages: 'requirements.txt',
    secrets: ['OLD'],
    volumes: ['old'],
    include: ['a'],
    exclude: ['b'],
  };
  const intent = {
    maxRuntime: 2,
    machineClass: 'a10g',
    project: 'new',
    venv: { python: '3.12' },
    secrets: ['NEW'],
    volumes: ['new'],
    include: ['c'],
    exclude: ['d'],
    resultsFolder: 'out',
  };
  const draft = firstDraft(intent, { script: 'a.py' }, { memory, defaults, rates });
  assert.deepEqual(draft, { script: 'a.py', ...intent });
  const agreement = { host: 'h', bytes: 1, reasons: [], secrets: [], findings: [], choices: [] };
  assert.deepEqual(memoryOf(draft, agreement), {
    include: ['c'],
    exclude: ['d'],
    maxRuntime: 2,
    machineClass: 'a10g',
    project: 'new',
    secrets: ['NEW'],
    volumes: ['new'],
    agreement,
  });
  const empty = firstDraft(
    { secrets: [], volumes: [], project: '', resultsFolder: '', machineClass: '' },
    { script: 'a.py' },
    {
      memory,
      defaults,
      rates,
    },
  );
  assert.deepEqual(empty, {
    script: 'a.py',
    maxRuntime: 1,
    include: ['a'],
    exclude: ['b'],
    venv: { requirements: 'requirements.txt' },
  });
  const { secrets, volumes } = firstDraft({}, { script: 'a.py' }, { memory, defaults, rates });
  assert.deepEqual([secrets, volumes], [['OLD'], ['old']]);
});

test('packages are chosen and left out without touching the rest of the environment', () => {
  const draft = { script: 'a.py', maxRuntime: 60, include: [], exclude: [], venv: { python: '3.12' } };
  const chosen = withPackages(draft, 'uv.lock');
  assert.deepEqual(chosen.venv, { python: '3.12', requirements: 'uv.lock' });
  assert.deepEqual(withPackages(chosen, undefined), draft);
  const { venv: _, ...bare } = draft;
  assert.deepEqual(withPackages(withPackages(bare, 'requirements.txt'), undefined), bare);
});
