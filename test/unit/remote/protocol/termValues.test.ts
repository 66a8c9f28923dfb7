import assert from 'node:assert/strict';
import { test } from 'node:test';
import { submission } from '../../../../src/remote/protocol/jobTerms.ts';
import { clusterOptions, imageName, isInside, moduleName } from '../../../../src/remote/protocol/termValues.ts';

const MINIMAL = { script: 'train.py', max_runtime: 60 };

/** Why a submission with these fields is refused, with the place; undefined if it is accepted. */
function refusalOf(fields: object): string | undefined {
  const result = submission.safeParse({ ...MINIMAL, ...fields });
  const [issue] = result.error?.issues ?? [];
  return issue && `${issue.path.join('.')}: ${issue.message}`;
}

test('a submission may have these fields, and others are dropped', () => {
  const all = {
    ...MINIMAL,
    project: 'vision',
    machine_class: 'gpu',
    venv: { python: 'python3.12', requirements: 'a/requirements.txt', env: { A_1: 'x' } },
    secrets: ['HF_TOKEN'],
  };
  assert.deepEqual(submission.parse(all), all);
  assert.deepEqual(submission.parse({ ...MINIMAL, other: 1 }), MINIMAL);
});

test('a script, a project and a class are one line, and the script and project have a length', () => {
  const line = 'must be one line, without NUL';
  for (const text of ['a\nb', 'a\rb', 'a\0b']) {
    assert.equal(refusalOf({ script: text }), `script: ${line}`);
    assert.equal(refusalOf({ project: text }), `project: ${line}`);
    assert.equal(refusalOf({ machine_class: text }), `machine_class: ${line}`);
  }
  assert.match(refusalOf({ script: '' }) ?? '', /^script: /);
  assert.equal(refusalOf({ script: 'x'.repeat(4096), project: 'x'.repeat(200), machine_class: '' }), undefined);
  assert.match(refusalOf({ script: 'x'.repeat(4097) }) ?? '', /^script: /);
  assert.match(refusalOf({ project: 'x'.repeat(201) }) ?? '', /^project: /);
});

test('a job may run for a second to 30 days', () => {
  assert.deepEqual(
    [1, 2_592_000].map((max_runtime) => refusalOf({ max_runtime })),
    [undefined, undefined],
  );
  assert.equal(refusalOf({ max_runtime: 0 }), 'max_runtime: must be at least 1 second');
  assert.equal(refusalOf({ max_runtime: 2_592_001 }), 'max_runtime: must be at most 2592000 seconds (30 days)');
  assert.match(refusalOf({ max_runtime: 1.5 }) ?? '', /^max_runtime: /);
});

test('a Python is a version or a command, and becomes a command', () => {
  const pythonOf = (python: string): unknown => submission.parse({ ...MINIMAL, venv: { python } }).venv?.python;
  assert.deepEqual(['3', '3.12', '3.12.1', 'python3.12'].map(pythonOf), [
    'python3',
    'python3.12',
    'python3.12.1',
    'python3.12',
  ]);
  for (const python of ['', 'python', '3.', '.3', '33', 'python3 -c', 'pypy3', '3.12\n', 'x3']) {
    assert.equal(
      refusalOf({ venv: { python } }),
      'venv.python: must be a version or a command, like "3.12" or "python3.12"',
      python,
    );
  }
});

test('requirements are lines, or the path of a file inside the folder', () => {
  for (const requirements of [[], ['a==1', 'b'], 'requirements.txt', 'a/../b.txt', '..a', './x']) {
    assert.equal(refusalOf({ venv: { requirements } }), undefined, String(requirements));
  }
  for (const requirements of ['', '..', '../x', 'a/../../x', '/x', 'a\nb', [''], ['a\nb'], [5]]) {
    assert.match(refusalOf({ venv: { requirements } }) ?? '', /^venv\.requirements/, String(requirements));
  }
  assert.match(refusalOf({ venv: { requirement: [] } }) ?? '', /^venv: /, 'a misspelled field is not ignored');
});

test('a normalized path stays inside its folder unless it begins with the root or the folder above', () => {
  assert.deepEqual(['x', '..x', '.', 'a/..', ''].map(isInside), [true, true, true, true, true]);
  assert.deepEqual(['..', '../x', '/', '/x'].map(isInside), [false, false, false, false]);
});

test('variables have names that the service does not use, and no NUL', () => {
  assert.equal(refusalOf({ venv: { env: { a: '', _: 'x\ny', Z9: 'x' } } }), undefined);
  for (const name of ['', '1A', 'A-B', 'A=B', 'FARWHARF_X', 'é', 'A\n']) {
    assert.match(refusalOf({ venv: { env: { [name]: 'x' } } }) ?? '', /^venv\.env/, name);
  }
  assert.equal(refusalOf({ venv: { env: { A: 'a\0b' } } }), 'venv.env.A: must not contain NUL');
});

test('variables are limited in their number, the size of one and the size of all', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`V${index}`, '']));
  assert.equal(refusalOf({ venv: { env: many(1_000) } }), undefined);
  assert.equal(refusalOf({ venv: { env: many(1_001) } }), 'venv.env: must be at most 1000 variables');
  // `NAME=value` and a NUL.
  const one = (bytes: number) => ({ AB: 'x'.repeat(bytes - 4) });
  assert.equal(refusalOf({ venv: { env: one(128 * 1024 - 1) } }), undefined);
  assert.equal(refusalOf({ venv: { env: one(128 * 1024) } }), 'venv.env: must be below 128 KB for each variable');
  assert.equal(
    refusalOf({ venv: { env: { AB: 'é'.repeat(64 * 1024) } } }),
    'venv.env: must be below 128 KB for each variable',
  );
  const all = (last: number) => ({
    ...Object.fromEntries(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I'].map((name) => [name, 'x'.repeat(65_536 - 3)])),
    J: 'x'.repeat(last - 3),
  });
  assert.equal(refusalOf({ venv: { env: all(65_536) } }), undefined);
  assert.equal(refusalOf({ venv: { env: all(65_537) } }), 'venv.env: must be below 640 KB for all variables together');
});

test('a job gets at most 16 secrets', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `SECRET_${index}`);
  assert.equal(refusalOf({ secrets: names(16) }), undefined);
  assert.equal(refusalOf({ secrets: names(17) }), 'secrets: must be at most 16 names');
  assert.match(refusalOf({ secrets: ['lower'] }) ?? '', /^secrets\.0: must be capital letters/);
});

test('a job has at most 16 volumes, by their names', () => {
  const volumes = Array.from({ length: 17 }, (_, index) => `v${index}`);
  assert.deepEqual(submission.parse({ ...MINIMAL, volumes: volumes.slice(1) }).volumes, volumes.slice(1));
  assert.equal(submission.safeParse({ ...MINIMAL, volumes }).error?.issues[0]?.message, 'must be at most 16 names');
  assert.equal(submission.safeParse({ ...MINIMAL, volumes: ['../x'] }).success, false);
});

test('a module is named as modules are: no option of the command, and no path that it would load', () => {
  for (const name of ['cuda', 'cuda/12.4', '_a/9+x', 'a-b.c/d/e', 'x'.repeat(200)])
    assert.equal(moduleName.parse(name), name);
  for (const name of [
    '',
    '-a',
    '--force',
    '/etc/x',
    './x',
    '../x',
    'a/../b',
    'a//b',
    'a/',
    'a b',
    'a;b',
    'a\n',
    'x'.repeat(201),
  ]) {
    assert.equal(moduleName.safeParse(name).success, false, JSON.stringify(name));
  }
});

test('an image is an absolute path or an address from which it is fetched, without a way up', () => {
  const images = [
    '/images/a.sif',
    'docker://debian:12',
    'oras://r.org/a',
    'library://a/b:1',
    'https://x.org/a.sif',
    'r.org:5000#a/b:1@x',
    '/...',
  ];
  for (const name of images) assert.equal(imageName.parse(name), name);
  const refused = [
    '',
    'a.sif',
    './a',
    '../a',
    '/a/../b',
    '/a/..',
    '/./a',
    'instance://a',
    'shub://a',
    'docker://a b',
    '-a',
    '/a;b',
    '/a\n',
    `/${'a'.repeat(1000)}`,
  ];
  for (const name of refused) assert.equal(imageName.safeParse(name).success, false, JSON.stringify(name));
});

test('what a job asks of its cluster is one line each, of at most 200 characters, 100 modules, and nothing else', () => {
  const asked = {
    account: 'a',
    qos: 'q',
    constraint: 'c',
    reservation: 'r',
    modules: ['m'],
    container: '/i',
    mail: true,
  };
  assert.deepEqual(submission.parse({ ...MINIMAL, cluster: asked }).cluster, asked);
  for (const field of ['account', 'qos', 'constraint', 'reservation']) {
    assert.equal(clusterOptions.safeParse({ [field]: 'x'.repeat(200) }).success, true, field);
    for (const value of ['', 'x'.repeat(201), 'a\nb', 5]) {
      assert.equal(clusterOptions.safeParse({ [field]: value }).success, false, `${field}: ${value}`);
    }
  }
  const modules = Array.from({ length: 101 }, () => 'm');
  assert.equal(clusterOptions.safeParse({ modules: modules.slice(1) }).success, true);
  assert.equal(clusterOptions.safeParse({ modules }).error?.issues[0]?.message, 'must be at most 100 names');
  assert.equal(clusterOptions.safeParse({ partition: 'p' }).success, false);
});
