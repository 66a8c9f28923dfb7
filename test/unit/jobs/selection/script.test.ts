import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkScript, scriptPath, shownScript } from '../../../../src/jobs/selection/script.ts';
import type { Exclusion, Selection } from '../../../../src/workspace/select/selection.ts';

function select(paths: readonly string[], excluded: readonly Exclusion[] = []): Selection {
  const files = paths.map((path) => ({ path, size: 1, mode: 0o644, mtimeMs: 0 }));
  return { root: '/home/ada/model', files, excluded, totalBytes: paths.length, findings: [] };
}

test('the path of a script line is its first word, quoted or not', () => {
  assert.equal(scriptPath('train.py --epochs 3'), 'train.py');
  assert.equal(scriptPath('  ./src/train.py'), 'src/train.py');
  assert.equal(scriptPath('"my script.py" -x'), 'my script.py');
  assert.equal(scriptPath("'a b.sh'"), 'a b.sh');
  assert.equal(scriptPath('  '), '');
});

test('a script that will be sent passes', () => {
  checkScript(select(['src/train.py']), 'src/train.py --lr 1');
  checkScript(select(['my script.py']), '"my script.py"');
});

const refusals: readonly [string, string, Selection, RegExp][] = [
  ['a slip of the finger', 'trian.py', select(['train.py', 'zebra.txt']), /Did you mean train\.py\?/],
  ['the wrong folder', 'train.py', select(['src/train.py']), /Did you mean src\/train\.py\?/],
  ['the wrong case', 'Train.py', select(['train.py']), /Did you mean train\.py\?/],
  ['backslashes', 'src\\train.py', select(['src/train.py']), /Did you mean src\/train\.py\?/],
  ['nothing alike', 'qqqqqq.sh', select(['train.py']), /Paths are relative to the folder/],
  ['an empty folder', 'train.py', select([]), /No file in .* is selected, so nothing was sent/],
  ['no script', '   ', select(['train.py']), /No script is specified/],
  [
    'an ignored file, with rule and place',
    'train.py',
    select(['a'], [{ path: 'train.py', type: 'file', reason: 'gitignore', rule: '*.py', at: '.gitignore:3' }]),
    /train\.py is left out, so nothing was sent\. Reason: ignored by git: \*\.py \(\.gitignore:3\)\./,
  ],
  [
    'a file in an excluded folder',
    'venv/bin/run',
    select(['a'], [{ path: 'venv', type: 'directory', reason: 'venv' }]),
    /Reason: virtual environment\./,
  ],
];
for (const [name, script, selection, message] of refusals) {
  test(`refused with a way out: ${name}`, () => assert.throws(() => checkScript(selection, script), { message }));
}

test('the script that starts a flow in a job is shown as the file of the flow', () => {
  assert.equal(shownScript('.farwharf/chat.mts.sh --fast'), 'chat.mts --fast');
  assert.equal(shownScript('".farwharf/my chat.mts.sh"'), 'my chat.mts');
  assert.equal(shownScript('tools/.farwharf/x.sh'), 'tools/.farwharf/x.sh');
});
