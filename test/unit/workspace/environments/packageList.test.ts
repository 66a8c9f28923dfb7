import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readPackageList, toolFor } from '../../../../src/workspace/environments/packageList.ts';

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-packages-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** What a requirements file takes from the folder. */
async function localOf(t: TestContext, text: string): Promise<string | undefined> {
  const root = folderWith(t, { 'requirements.txt': text });
  return (await readPackageList(root, { requirements: 'requirements.txt' }))?.localPackage;
}

test('the name of a file decides what installs its packages', () => {
  const tools = {
    'requirements-dev.txt': 'pip',
    'deps/base.in': 'pip',
    'train.py': 'pip',
    'pyproject.toml': 'pip',
    'pylock.toml': 'pip',
    'pylock.gpu.toml': 'pip',
    'a/uv.lock': 'uv',
    'sub/poetry.lock': 'poetry',
    'pdm.lock': 'pdm',
    'environment.gpu.yml': 'conda',
    'package-lock.json': 'npm',
    'web/pnpm-lock.yaml': 'pnpm',
    'yarn.lock': 'yarn',
    'renv.lock': 'renv',
  };
  for (const [path, tool] of Object.entries(tools)) assert.equal(toolFor(path), tool, path);
  for (const [path, remedy] of [
    ['sub/Pipfile.lock', 'Write the packages to a requirements file with pipenv requirements, and name that.'],
    ['package.json', 'Name its lock file, such as package-lock.json, which npm install writes.'],
  ] as const) {
    const message = `Packages cannot be installed from ${path.replace('sub/', '')}. ${remedy}`;
    assert.throws(() => toolFor(path), { code: 'bad-input', message });
  }
});

test('the hash changes with all that decides what is installed, and with nothing else', async (t) => {
  const files = { 'requirements.txt': '-r b/more.txt\ntiny', 'b/more.txt': '-c ../limits.txt', 'limits.txt': 'x<3' };
  const hash = async (changed: object, description: object = {}): Promise<string | undefined> => {
    const root = folderWith(t, { ...files, ...changed });
    return (await readPackageList(root, { requirements: 'requirements.txt', ...description }))?.contents;
  };
  const base = await hash({});
  assert.match(base ?? '', /^[0-9a-f]{64}$/);
  assert.equal(await hash({ 'other.txt': 'x' }), base);
  const changes = await Promise.all([
    hash({ 'limits.txt': 'x<4' }),
    hash({ 'b/more.txt': '-c ../limits.txt\ny' }),
    hash({}, { python: 'python3.12' }),
    hash({}, { env: { PIP_PRE: '1' } }),
    hash({}, { requirements: ['tiny'] }),
    hash({}, { requirements: [], python: 'python3' }),
  ]);
  assert.equal(new Set([base, ...changes]).size, changes.length + 1);
  assert.equal(
    await hash({}, { env: { CFLAGS: '1', UV_X: '2' } }),
    await hash({}, { env: { UV_X: '2', CFLAGS: '1' } }),
  );
  assert.equal(await hash({}, { env: { LEARNING_RATE: '0.1' } }), base, 'jobs of a sweep share their packages');
});

test('requirements that come from the folder, or change without it, are found', async (t) => {
  const local = [
    '.',
    './lib',
    'lib/thing',
    '-e .',
    '--editable=git+https://example.org/x.git',
    'thing @ file:///data/thing',
    'file:lib',
    'thing-1.0-py3-none-any.whl',
    '-f wheels',
    '--find-links=/data/wheels',
    '-r https://example.org/requirements.txt',
    './lib ; python_version > "3.8"',
    'tiny\\\n==1.0\n./lib',
  ];
  assert.equal(await localOf(t, '. # the folder'), '.');
  for (const text of local) assert.notEqual(await localOf(t, text), undefined, text);
  const remote = [
    'tiny',
    'tiny[extra]==1.0 ; sys_platform == "linux"  # ./not this',
    '# -e .',
    'git+https://example.org/x.git@main#subdirectory=a/b',
    'thing @ https://example.org/thing-1.0-py3-none-any.whl',
    '--extra-index-url https://example.org/a/simple\ntiny',
    '-f https://example.org/wheels.html',
    'tiny==1.0 \\\n  --hash=sha256:abc',
  ];
  for (const text of remote) assert.equal(await localOf(t, text), undefined, text);
});

test('lock files name what they take from the folder', async (t) => {
  const uv = (source: string): string => `[[package]]\nname = "x"\nsource = { ${source} }\n`;
  const read = (files: Readonly<Record<string, string>>, requirements: string) =>
    readPackageList(folderWith(t, files), { requirements });
  const ofUv = async (source: string) =>
    (await read({ 'uv.lock': uv(source), 'pyproject.toml': '' }, 'uv.lock'))?.localPackage;
  assert.equal(await ofUv('registry = "https://example.org/simple"'), undefined);
  assert.equal(await ofUv('editable = "."'), undefined, 'the project itself is not installed');
  assert.equal(await ofUv('directory = "libs/a"'), 'libs/a');
  const npm = (entry: object): string =>
    JSON.stringify({ lockfileVersion: 3, packages: { '': {}, 'node_modules/a': entry } });
  const ofNpm = async (entry: object) =>
    (await read({ 'package-lock.json': npm(entry), 'package.json': '{}' }, 'package-lock.json'))?.localPackage;
  assert.equal(await ofNpm({ resolved: 'https://example.org/a.tgz' }), undefined);
  assert.equal(await ofNpm({ resolved: 'packages/a', link: true }), 'node_modules/a');
  assert.equal(await ofNpm({ resolved: 'file:a.tgz' }), 'node_modules/a');
  for (const text of ['{"lockfileVersion":1,"packages":{}}', '{"lockfileVersion":3}', '[]', 'nothing']) {
    await assert.rejects(
      () => read({ 'package-lock.json': text, 'package.json': '{}' }, 'package-lock.json'),
      /npm 7 or later/,
    );
  }
  const conda = (line: string) =>
    read({ 'environment.yml': `dependencies:\n  - numpy=2\n  - pip:\n${line}\n` }, 'environment.yml');
  assert.equal((await conda('      - torch==2.0'))?.localPackage, undefined);
  assert.equal((await conda('      - -e ./lib'))?.localPackage, '-e ./lib');
  assert.equal((await conda('      - "-r requirements.txt"'))?.localPackage, '-r requirements.txt');
});

test('only files of the folder are read', async (t) => {
  const root = folderWith(t, { 'a/requirements.txt': '', 'secret.txt': 'outside/of/the/folder' });
  symlinkSync('../secret.txt', join(root, 'a/link.txt'));
  symlinkSync('..', join(root, 'a/up'));
  writeFileSync(join(root, 'a/including.txt'), '-r ../secret.txt');
  for (const requirements of ['link.txt', 'up/secret.txt', 'including.txt', '../secret.txt', '.', 'none.txt']) {
    await assert.rejects(() => readPackageList(join(root, 'a'), { requirements }), {
      code: 'missing',
      message: /^The folder has no/,
    });
  }
  const many = Array.from({ length: 200 }, (_, index) => [`r${index}.txt`, `-r r${index + 1}.txt`] as const);
  const chain = folderWith(t, Object.fromEntries(many));
  await assert.rejects(() => readPackageList(chain, { requirements: 'r0.txt' }), {
    code: 'bad-input',
    message: /more than 100 files/,
  });
  const circle = folderWith(t, { 'a.txt': '-r b.txt', 'b.txt': '-r a.txt' });
  assert.equal((await readPackageList(circle, { requirements: 'a.txt' }))?.files.length, 2);
});

test('a later version of Farwharf still knows what an environment was built from', async (t) => {
  const root = folderWith(t, { 'requirements.txt': 'numpy\n' });
  const contentsOf = async (description: Parameters<typeof readPackageList>[1]) =>
    (await readPackageList(root, description))?.contents;
  const hashOf = (...identity: readonly unknown[]): string => hash('sha256', JSON.stringify(identity));
  assert.equal(await contentsOf({ python: 'python3.12' }), hashOf('pip', [], 'python3.12', []));
  assert.equal(await contentsOf({ requirements: ['a', 'b'] }), hashOf('pip', ['a\nb'], null, []));
  assert.equal(
    await contentsOf({ requirements: 'requirements.txt' }),
    hashOf('pip', ['requirements.txt', 'numpy\n'], null, []),
  );
  assert.equal(await contentsOf({}), undefined);
});
