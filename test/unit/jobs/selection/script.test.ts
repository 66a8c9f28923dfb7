import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  requireProgram,
  findScriptProblem,
  scriptArguments,
  scriptPath,
  shownScript,
} from '../../../../src/jobs/selection/script.ts';
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
  assert.equal(scriptPath(String.raw`my\ dir/x.py --a`), 'my dir/x.py');
  assert.equal(scriptPath(`my' 'dir/"x y".py`), 'my dir/x y.py');
  assert.equal(scriptPath('  '), '');
});

test('a script that will be sent passes', () => {
  requireProgram(select(['src/train.py']), { script: 'src/train.py --lr 1' });
  requireProgram(select(['my script.py']), { script: '"my script.py"' });
  requireProgram(select(['my script.py']), { script: String.raw`my\ script.py 1` });
});

const refusals: readonly [string, string, Selection, RegExp][] = [
  ['a slip of the finger', 'trian.py', select(['train.py', 'zebra.txt']), /Did you mean train\.py\?/],
  ['the wrong folder', 'train.py', select(['src/train.py']), /Did you mean src\/train\.py\?/],
  ['the wrong case', 'Train.py', select(['train.py']), /Did you mean train\.py\?/],
  ['backslashes', 'src\\train.py', select(['src/train.py']), /Did you mean src\/train\.py\?/],
  ['nothing alike', 'qqqqqq.sh', select(['train.py']), /Paths are relative to the folder/],
  ['an empty folder', 'train.py', select([]), /No file in .* is selected, so nothing was sent/],
  ['no script', '   ', select(['train.py']), /No script is specified/],
  ['an open quote', "train.py --name O'Neil", select(['train.py']), /A quote in the script is not closed/],
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
  test(`refused with a way out: ${name}`, () =>
    assert.throws(() => requireProgram(selection, { script }), { message }));
}

test('the script that starts a flow in a job is shown as the file of the flow', () => {
  assert.equal(shownScript('.farwharf/chat.mts.sh --fast'), 'chat.mts --fast');
  assert.equal(shownScript('".farwharf/my chat.mts.sh"'), 'my chat.mts');
  assert.equal(shownScript('tools/.farwharf/x.sh'), 'tools/.farwharf/x.sh');
});

test('a problem with a script is said in two sentences', () => {
  const problemOf = (selection: Selection, script: string) => {
    const problem = findScriptProblem(selection, script);
    return problem && `${problem.summary}. ${problem.detail}`;
  };
  const leftOut = (reason: Exclusion['reason'], type: Exclusion['type'] = 'file') =>
    select(['a'], [{ path: 'out', type, reason }]);
  const files = select(['train.py', 'src/a.py', 'src/b.py', 'src/c.py', 'src/d.py']);
  assert.equal(problemOf(files, ' '), 'No script is specified. Enter the file to run, such as train.py.');
  assert.equal(
    problemOf(select([]), 'a'),
    'No file in /home/ada/model is selected. Include the files that the job needs.',
  );
  assert.equal(problemOf(files, 'train.py'), undefined);
  assert.equal(
    problemOf(files, 'zzzzzzzz.txt'),
    'zzzzzzzz.txt does not exist in the folder. Paths are relative to the folder.',
  );
  assert.equal(
    problemOf(files, 'src/e.py'),
    'src/e.py does not exist in the folder. Did you mean src/a.py, src/b.py or src/c.py?',
  );
  assert.equal(
    problemOf(files, 'zz\u001b[2Jzz'),
    'zzzz does not exist in the folder. Paths are relative to the folder.',
  );
  for (const reason of ['gitignore', 'farwharfignore', 'user', 'secret', 'venv', 'cache', 'link', 'git'] as const) {
    assert.match(
      problemOf(leftOut(reason), 'out') ?? '',
      /^out is left out\. Reason: .*\. Include it, or change the rule\.$/,
      reason,
    );
  }
  for (const reason of ['name', 'special', 'unreadable', 'limit'] as const) {
    assert.match(problemOf(leftOut(reason), 'out') ?? '', /^out is left out\. Reason: [^.]*\.$/, reason);
  }
  assert.match(problemOf(leftOut('venv', 'directory'), 'out/x.py') ?? '', /^out\/x\.py is left out\./);
  assert.match(problemOf(leftOut('venv', 'directory'), 'outer/x.py') ?? '', /does not exist/);
  assert.match(problemOf(leftOut('venv', 'file'), 'out/x.py') ?? '', /does not exist/);
  const how = findScriptProblem(leftOut('cache'), 'out', (path) => `Add ${path}.`);
  assert.equal(how?.detail, 'Reason: cache or installed packages. Add out.');
});

test('names are close if they differ in a third of their letters and three at most, or only in their folder', () => {
  const isClose = (wanted: string, file: string): boolean => {
    const problem = findScriptProblem(select([file]), wanted);
    return problem?.detail === `Did you mean ${file}?`;
  };
  for (const [wanted, file, expected] of [
    ['abcdef.py', 'abcxyz.py', true],
    ['abcdef.py', 'abwxyz.py', false],
    ['a.py', 'b.py', true],
    ['a.py', 'bc.py', false],
    ['x', 'y', false],
    ['lib/run.py', 'run.py', true],
    ['a/b/run.py', 'c/run.py', true],
    ['RUN.PY', 'run.py', true],
    ['long/folder/name/run.py', 'run.py', true],
  ] as const) {
    assert.equal(isClose(wanted, file), expected, `${wanted} ${file}`);
  }
  const order = findScriptProblem(select(['trainx.py', 'sub/train.py', 'TRAIN.py']), 'train.PY');
  assert.equal(order?.detail, 'Did you mean TRAIN.py, sub/train.py or trainx.py?');
});

test('a script that is not given has another code than one that is not sent', () => {
  assert.throws(() => requireProgram(select(['a']), { script: '' }), {
    code: 'bad-input',
    message: 'No script is specified, so nothing was sent. Enter the file to run, such as train.py.',
  });
  assert.throws(() => requireProgram(select(['a']), { script: 'bbbbb' }), { code: 'missing' });
});

test('the parameters of a script line are what follows its first word', () => {
  for (const [line, path, parameters] of [
    ['train.py', 'train.py', ''],
    ['  "a b.py"  --x "y z" ', 'a b.py', '--x "y z"'],
    [`'a b.py'--x`, 'a b.py', '--x'],
    [String.raw`my\ dir/a.py 1`, 'my dir/a.py', '1'],
    ['././a.py 1', 'a.py', '1'],
    ['.a.py', '.a.py', ''],
    ['"unclosed a', '"unclosed', 'a'],
  ] as const) {
    assert.deepEqual([scriptPath(line), scriptArguments(line)], [path, parameters], line);
  }
  assert.equal(shownScript('.farwharf/a.sh.sh'), 'a.sh');
  assert.equal(shownScript('.farwharf/a.shx'), '.farwharf/a.shx');
});
