import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { reviewScript } from '../../../../src/jobs/selection/jobReview.ts';
import { selectFiles } from '../../../../src/workspace/select/selection.ts';
import { tempHome } from '../fixtures.ts';

async function review(
  t: test.TestContext,
  files: Readonly<Record<string, string>>,
  script = 'train.py',
  command?: readonly string[],
) {
  const folder = tempHome(t);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return reviewScript(await selectFiles(folder, { isTrusted: false }), { script, command });
}

test('a file that the script reads and the archive lacks is named, with the line and the rule', async (t) => {
  const findings = await review(t, {
    '.gitignore': 'data/\n',
    'train.py': '\nrows = open("data/train.csv")\n',
    'data/train.csv': 'a,b',
  });
  assert.deepEqual(findings, [
    {
      type: 'left-out-read',
      severity: 'warning',
      summary: 'train.py may read data/train.csv, which is left out',
      detail:
        'Reason: ignored by git: data/ (.gitignore:1). This is a guess from line 2. Include the file if the job needs it.',
    },
  ]);
});

test('of a notebook, the cells that run are searched, whatever its outputs say', async (t) => {
  const code = (source: string | string[]) => ({ cell_type: 'code', source, outputs: [{ text: 'open("b.bin")' }] });
  const cells = [
    { cell_type: 'markdown', source: 'open("b.bin")' },
    code(' '),
    code('1'),
    code(['import os\n', 'open("a.bin")']),
  ];
  const files = {
    '.gitignore': '*.bin\n',
    'a.bin': '',
    'b.bin': '',
    'sub/a.bin': '',
    'sub/n.ipynb': JSON.stringify({ cells }),
  };
  const findings = await review(t, files, 'sub/n.ipynb');
  assert.deepEqual(
    findings.map(({ summary, detail }) => [summary, /guess from [\w ]+/.exec(detail)?.[0]]),
    [['sub/n.ipynb may read a.bin, which is left out', 'guess from cell 2']],
  );
  assert.deepEqual(await review(t, { 'broken.ipynb': '{"cells": 1' }, 'broken.ipynb'), []);
});

test('the code that the script imports is searched too', async (t) => {
  const findings = await review(t, {
    '.gitignore': '*.bin\ngenerated.py\n',
    'train.py': 'from lib import model',
    'lib/__init__.py': '',
    'lib/model.py': 'import train\nfrom . import weights\nimport generated',
    'lib/weights.py': 'load("lib/w.bin"); load("b.bin"); load("missing.bin")',
    'lib/w.bin': '',
    'lib/b.bin': '',
    'generated.py': '',
  });
  assert.deepEqual(findings.map(({ summary }) => summary).toSorted(), [
    'lib/model.py may read generated.py, which is left out',
    'lib/weights.py may read lib/b.bin, which is left out',
    'lib/weights.py may read lib/w.bin, which is left out',
  ]);
});

test('an absolute path in the folder, or to a file of the user outside of it, is named', async (t) => {
  const home = tempHome(t);
  const before = process.env['HOME'];
  process.env['HOME'] = home;
  t.after(() => (before === undefined ? delete process.env['HOME'] : (process.env['HOME'] = before)));
  const folder = join(home, 'project');
  for (const [path, text] of Object.entries({
    'project/train.py': [
      `open("${folder}/data/train.csv")`,
      `os.chdir("${folder}")`,
      'open("~/sets/big.csv")',
      `Path("${home}") / "sets" / "big.csv"`,
      `save("${folder}/data/train.csv")`,
      'open("/etc/hosts"); open("/no/such.csv"); open("//server/share.csv")',
      `open("${home}/sets/gone.csv")`,
    ].join('\n'),
    'project/data/train.csv': '1',
    'sets/big.csv': '2',
  })) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const findings = await reviewScript(await selectFiles(folder, { isTrusted: false }), { script: 'train.py' });
  const inJob = (where: string, line: number): string =>
    `In a job on another machine, ${where}. This is a guess from line ${line}.`;
  const unsent = (line: number): string =>
    `It is not sent, so a job on another machine does not have it. This is a guess from line ${line}.`;
  assert.deepEqual(
    findings.map(({ type, severity, summary, detail }) => [type, severity, summary, detail]),
    [
      [`${folder}/data/train.csv`, inJob('its path is data/train.csv', 1)],
      [folder, inJob('the folder has another path', 2)],
      ['~/sets/big.csv', unsent(3)],
      [`${home}/sets/big.csv`, unsent(4)],
    ].map(([path, detail]) => [
      'absolute-path',
      'warning',
      `train.py may read ${path}, a path on this machine`,
      detail,
    ]),
  );
});

test('a file beside the folder is named', async (t) => {
  const home = tempHome(t);
  for (const [path, text] of Object.entries({
    'project/train.py': 'open("../data/a.csv"); open("../data/none.csv")\nimport lib.x',
    'project/lib/x.py': 'open("../../data/b.csv"); open("../train.py")',
    'data/a.csv': '1',
    'data/b.csv': '2',
  })) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const selection = await selectFiles(join(home, 'project'), { isTrusted: false });
  const [first, ...others] = await reviewScript(selection, { script: 'train.py' });
  assert.deepEqual(first, {
    type: 'outside-read',
    severity: 'warning',
    summary: 'train.py may read ../data/a.csv, which is outside of the folder',
    detail: 'It is not sent. This is a guess from line 1. Copy it into the folder if the job needs it.',
  });
  assert.deepEqual(
    others.map(({ summary }) => summary),
    ['lib/x.py may read ../data/b.csv, which is outside of the folder'],
  );
});

test('including a secret is not recommended', async (t) => {
  const [finding] = await review(t, { 'train.py': 'load_dotenv(".env")\nopen("./.env")', '.env': 'A=1' });
  assert.match(finding?.detail ?? '', /Secrets are not sent unless you include them\.$/);
});

test('files that are sent, results, caches and paths outside the folder are not mentioned', async (t) => {
  const findings = await review(t, {
    '.gitignore': 'out/\n_\n',
    'train.py': 'open("a.csv"); df.to_csv("out/b.csv"); open("__pycache__/c.pyc"); open("../d.csv")',
    'a.csv': '',
    _: 'left out, and not a folder of the cache',
    'out/b.csv': '',
    '__pycache__/c.pyc': '',
  });
  assert.deepEqual(findings, []);
});

test('a script that is not sent is the only finding, and an error', async (t) => {
  const findings = await review(t, { 'train.py': 'open("a.log")', '.gitignore': '*.log', 'a.log': '' }, 'trian.py');
  assert.deepEqual(findings, [
    {
      type: 'script',
      severity: 'error',
      summary: 'trian.py does not exist in the folder',
      detail: 'Did you mean train.py?',
    },
  ]);
});

const hostile: readonly [string, string][] = [
  ['train.py', `x = "${'\\"'.repeat(60_000)}`],
  ['train.py', `from ${'.'.repeat(120_000)}`],
  ['train.py', 'from . import a, '.repeat(10_000)],
  ['train.js', '/*'.repeat(60_000)],
  ['train.js', '`'.repeat(60_001)],
];
for (const [path, source] of hostile) {
  test(`a source that is made to be read slowly is not: ${source.slice(0, 8)}…`, async (t) => {
    assert.deepEqual(await review(t, { [path]: source, '.gitignore': 'b', b: '' }, path), []);
  });
}

test('a command is reviewed as a script is: the file that it runs, what that reads, and what its arguments name', async (t) => {
  const files = {
    '.gitignore': 'data/\ngone.py\n',
    'train.py': 'import lib',
    'lib.py': 'open("data/train.csv")',
    'data/train.csv': '1',
    'data/test.csv': '2',
    'gone.py': '',
    '.env': 'X=1',
    'pkg/main.py': 'open("data/test.csv")',
    'run.sh': 'echo on\r\necho off\r\n',
  };
  const found = async (...command: readonly string[]) =>
    (await review(t, files, 'title', command)).map(({ type, severity, summary }) => `${type} ${severity}: ${summary}`);
  const lib = 'left-out-read warning: lib.py may read data/train.csv, which is left out';
  assert.deepEqual(await found('torchrun', '--nproc_per_node', '2', 'train.py'), [lib]);
  assert.deepEqual(await found('uv', 'run', 'train.py', '--data=data/test.csv', '--env', '.env'), [
    'left-out-read warning: The command names data/test.csv, which is left out',
    'left-out-read warning: The command names .env, which is left out',
    lib,
  ]);
  assert.deepEqual(await found('python', '-m', 'pkg.main'), [
    'left-out-read warning: pkg/main.py may read data/test.csv, which is left out',
  ]);
  assert.deepEqual(await found('python', 'gone.py'), ['command error: gone.py is left out']);
  assert.deepEqual(await found('python', 'trian.py'), ['command error: trian.py does not exist in the folder']);
  assert.deepEqual(await found('./tool'), ['command error: tool does not exist in the folder']);
  for (const command of [['python', '-m', 'pip'], ['make'], ['ls', 'x'], ['node_modules/.bin/tsc'], ['/opt/tool']])
    assert.deepEqual(await found(...command), [], command.join(' '));
  const folder = tempHome(t);
  const before = process.env['HOME'];
  process.env['HOME'] = folder;
  t.after(() => (before === undefined ? delete process.env['HOME'] : (process.env['HOME'] = before)));
  writeFileSync(join(folder, 'set.csv'), '1');
  assert.deepEqual(await found('ls', `--data=${folder}/set.csv`, '/etc/hosts'), [
    `absolute-path warning: The command names ${folder}/set.csv, a path on this machine`,
  ]);
});
