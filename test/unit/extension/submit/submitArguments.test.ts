import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSubmitArguments } from '../../../../src/extension/submit/submitArguments.ts';

test('a keybinding may fix any of the terms', () => {
  const args = { script: 'train.py --epochs 3', maxRuntime: 600, machineClass: 'a10g', project: 'tides', folder: '/w' };
  assert.deepEqual(readSubmitArguments(args), args);
});

test('no arguments, and arguments of menus, are understood', () => {
  assert.deepEqual(readSubmitArguments(undefined), {});
  assert.deepEqual(readSubmitArguments({ scheme: 'file', fsPath: '/w/a.py', path: '/w/a.py' }), { file: '/w/a.py' });
});

for (const [name, value] of [
  ['script', 5],
  ['script', ''],
  ['maxRuntime', '600'],
  ['maxRuntime', 0],
  ['maxRuntime', Number.NaN],
  ['folder', {}],
] as const) {
  test(`${name} = ${JSON.stringify(value)} is refused with its name`, () => {
    assert.throws(() => readSubmitArguments({ [name]: value }), {
      code: 'bad-input',
      message: new RegExp(`"${name}"`),
    });
  });
}

test('nothing but the known terms is taken over', () => {
  assert.deepEqual(readSubmitArguments({ host: 'https://evil.example', confirmSubmit: 'never' }), {});
});
