// The lock files of projects: what pip and uv install for them, which are refused, and what no lock file may do.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import {
  checkPackageList,
  type PackageList,
  pipRequirements,
  readPackageList,
} from '../../../../src/workspace/environments/packageList.ts';
import { findSecretInBytes } from '../../../../src/workspace/secrets/secretScanner.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

const HASH = `sha256:${'a'.repeat(64)}`;

async function listOf(
  t: TestContext,
  requirements: string,
  files: Readonly<Record<string, string>>,
): Promise<PackageList> {
  const root = temporaryFolder(t);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const list = await readPackageList(root, { requirements });
  assert.ok(list !== undefined);
  return list;
}

async function linesOf(t: TestContext, requirements: string, files: Readonly<Record<string, string>>) {
  return pipRequirements(await listOf(t, requirements, files));
}

const SCRIPT = `#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "numpy>=2", # for arrays
#   "rich",
# ]
# ///
print(1)
`;

test('a script names its packages in its block', async (t) => {
  assert.deepEqual(await linesOf(t, 'train.py', { 'train.py': SCRIPT }), {
    lines: ['numpy>=2', 'rich'],
    isLocked: false,
    python: '>=3.11',
  });
  const [before, after] = [
    await listOf(t, 'train.py', { 'train.py': SCRIPT }),
    await listOf(t, 'train.py', { 'train.py': SCRIPT.replace('print(1)', 'print(2)\r\n') }),
  ];
  assert.equal(before.contents, after.contents, 'an edit of the program installs nothing anew');
  assert.notEqual(
    before.contents,
    (await listOf(t, 'train.py', { 'train.py': SCRIPT.replace('3.11', '3.12') })).contents,
  );
  const empty = await linesOf(t, 'a.py', { 'a.py': '# /// script\r\n# ///\r\n' });
  assert.deepEqual(empty, { lines: [], isLocked: false, python: undefined });
  for (const [text, message] of [
    ['print(1)', /a\.py lists no packages/],
    ['# /// script\n# x = 1\nprint(1)\n# ///', /lists no packages/],
    [`${SCRIPT}\n${SCRIPT}`, /several blocks/],
    ['\n# /// script\n# dependencies = [\n# ///', /a\.py is not valid TOML\. Correct line 3/],
    ['# /// script\n# dependencies = "numpy"\n# ///', /not a list of packages/],
    ['# /// script\n# dependencies = ["--index-url=https://example.org"]\n# ///', /not a list of packages/],
  ] as const) {
    await assert.rejects(listOf(t, 'a.py', { 'a.py': text }), { code: 'bad-input', message });
  }
});

test('a pyproject.toml without a lock file is a list of packages', async (t) => {
  const text = '[project]\nname = "x"\nrequires-python = ">=3.9"\ndependencies = ["tiny>=1"]\n';
  const expected = { lines: ['tiny>=1'], isLocked: false, python: '>=3.9' };
  assert.deepEqual(await linesOf(t, 'pyproject.toml', { 'pyproject.toml': text }), expected);
  const poetry = '[tool.poetry.dependencies]\npython = "^3.9"\n';
  await assert.rejects(listOf(t, 'pyproject.toml', { 'pyproject.toml': poetry }), /lists no packages in \[project\]/);
});

const UV_PROJECT = '[project]\nname = "demo"\ndependencies = ["tiny >=1, <3", "torch"]\n';
const UV_LOCK = `version = 1
requires-python = ">=3.9"

[[package]]
name = "demo"
version = "0.1.0"
source = { virtual = "." }
dependencies = [
    { name = "tiny" },
    { name = "torch", version = "2.0", source = { registry = "https://pypi.org/simple" }, marker = "sys_platform == 'linux'" },
    { name = "torch", version = "1.0", source = { registry = "https://pypi.org/simple" }, marker = "sys_platform != 'linux'" },
]

[package.dev-dependencies]
dev = [{ name = "checks" }]
docs = [{ name = "unused" }]

[package.metadata]
requires-dist = [{ name = "tiny", specifier = "<3,>=1" }, { name = "torch" }]

${['tiny 1.0', 'torch 2.0', 'torch 1.0', 'deep 1.0', 'extra 1.0', 'checks 1.0', 'unused 1.0']
  .map((each) => each.split(' '))
  .map(
    ([name, version]) => `[[package]]
name = "${name}"
version = "${version}"
source = { registry = "https://pypi.org/simple" }
${name === 'torch' ? `dependencies = [{ name = "deep", extra = ["x"], marker = "python_full_version < '3.12'" }]` : ''}
${name === 'deep' ? 'dependencies = [{ name = "torch", version = "2.0" }]' : ''}
wheels = [{ url = "https://example.org/x.whl", hash = "${HASH}", size = 1 }]
${name === 'deep' ? '[package.optional-dependencies]\nx = [{ name = "extra" }]' : ''}
`,
  )
  .join('\n')}`;

test('pip installs what uv sync would, with its hashes, also through conditions and circles', async (t) => {
  const list = await listOf(t, 'uv.lock', { 'uv.lock': UV_LOCK, 'pyproject.toml': UV_PROJECT });
  checkPackageList(list);
  const { lines = [], ...rest } = pipRequirements(list) ?? {};
  assert.deepEqual(rest, { isLocked: true, python: '>=3.9' });
  const found = lines.map((line) => line.replace(` --hash=${HASH}`, ''));
  const [linux, other, old] = [
    "(sys_platform == 'linux')",
    "(sys_platform != 'linux')",
    "(python_full_version < '3.12')",
  ];
  const deep = `(${other} and ${old}) or (${linux} and ${old})`;
  const expected = [
    'checks==1.0',
    'tiny==1.0',
    `torch==1.0 ; ${other}`,
    `torch==2.0 ; (${other} and ${old}) or (${linux})`,
    `deep==1.0 ; ${deep}`,
    `extra==1.0 ; ${deep}`,
  ];
  assert.deepEqual(new Set(found), new Set(expected));
});

test('Poetry 2, PDM and pylock.toml name what the project needs to run', async (t) => {
  const poetry = `[[package]]
name = "tiny"
version = "1.0"
groups = ["main", "dev"]
markers = {main = "python_version < \\"3.13\\"", dev = "x"}
files = [{file = "tiny.whl", hash = "${HASH}"}]
[package.source]
type = "legacy"
url = "https://pypi.example.org/simple"
[[package]]
name = "pytest"
version = "8"
groups = ["dev"]
files = []
[[package]]
name = "extra"
version = "1"
optional = true
groups = ["main"]
files = []
[metadata]
lock-version = "2.1"
python-versions = "^3.9"
`;
  const project = '[tool.poetry.dependencies]\npython = "^3.9"\nTiny = "^1"\n';
  assert.deepEqual(await linesOf(t, 'poetry.lock', { 'poetry.lock': poetry, 'pyproject.toml': project }), {
    lines: ['--extra-index-url https://pypi.example.org/simple', `tiny==1.0 ; python_version < "3.13" --hash=${HASH}`],
    isLocked: true,
    python: '>=3.9',
  });
  const pdm = `[metadata]
strategy = ["inherit_metadata"]
[[package]]
name = "tiny"
version = "1.0"
groups = ["default"]
marker = "sys_platform == 'linux'"
files = [{file = "tiny.whl", hash = "${HASH}"}]
[[package]]
name = "pytest"
version = "8"
groups = ["test"]
`;
  const ofPdm =
    '[project]\nrequires-python = ">=3.10"\ndependencies = ["tiny"]\n[[tool.pdm.source]]\nurl = "https://pypi.org/simple"\n';
  assert.deepEqual(await linesOf(t, 'pdm.lock', { 'pdm.lock': pdm, 'pyproject.toml': ofPdm }), {
    lines: [`tiny==1.0 ; sys_platform == 'linux' --hash=${HASH}`],
    isLocked: true,
    python: '>=3.10',
  });
  const pylock = `lock-version = "1.0"
requires-python = ">=3.9"
[[packages]]
name = "tiny"
version = "1.0"
index = "https://pypi.org/simple"
wheels = [{url = "https://example.org/tiny.whl", hashes = {sha256 = "${'a'.repeat(64)}"}}]
`;
  assert.deepEqual(await linesOf(t, 'pylock.toml', { 'pylock.toml': pylock }), {
    lines: [`tiny==1.0 --hash=${HASH}`],
    isLocked: true,
    python: '>=3.9',
  });
  const older = poetry.replaceAll(/^groups.*\n/gm, '');
  for (const [lock, why] of [
    [older, /because a version of Poetry before 2 wrote it$/],
    [poetry.replace('type = "legacy"', 'type = "git"'), /because tiny comes from no index$/],
    [poetry.replace(HASH, 'md5:0'), /because it has no hashes of tiny$/],
    [poetry.replace('"1.0"', '"1.0 --pre"'), /because tiny cannot be read from it$/],
  ] as const) {
    const list = await listOf(t, 'poetry.lock', { 'poetry.lock': lock, 'pyproject.toml': project });
    assert.throws(() => pipRequirements(list), { code: 'bad-input', message: why });
  }
});

const NPM = (dependencies: object): string =>
  JSON.stringify({ lockfileVersion: 3, packages: { '': { dependencies } } });

test('a lock file that does not fit its project is refused with what it lacks', async (t) => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, string | undefined])[] = [
    [
      'uv.lock',
      { 'uv.lock': UV_LOCK, 'pyproject.toml': UV_PROJECT.replace('>=1', '>=2') },
      'tiny >=2, <3. Run uv lock',
    ],
    ['uv.lock', { 'uv.lock': UV_LOCK, 'pyproject.toml': UV_PROJECT.replace('"torch"', '"jax"') }, 'jax. Run uv lock'],
    ['uv.lock', { 'uv.lock': UV_LOCK, 'pyproject.toml': UV_PROJECT.replace('tiny ', 'Tiny[x]') }, undefined],
    [
      'poetry.lock',
      { 'poetry.lock': '', 'pyproject.toml': '[tool.poetry.dependencies]\npython = "3"\na = "1"' },
      'a. Run poetry lock',
    ],
    ['pdm.lock', { 'pdm.lock': '', 'pyproject.toml': '[project]\ndependencies = ["a>=1"]' }, 'a>=1. Run pdm lock'],
    [
      'package-lock.json',
      { 'package-lock.json': NPM({ a: '^1' }), 'package.json': '{"dependencies":{"a":"^2"}}' },
      'a@^2. Run npm install',
    ],
    [
      'package-lock.json',
      { 'package-lock.json': NPM({ a: '^1' }), 'package.json': '{"dependencies":{"a":"^1"}}' },
      undefined,
    ],
    [
      'pnpm-lock.yaml',
      {
        'pnpm-lock.yaml': "importers:\n  .:\n    dependencies:\n      '@x/a':\n        specifier: 1\n",
        'package.json': '{"dependencies":{"@x/a":"1","b":"1"}}',
      },
      'b@1. Run pnpm install',
    ],
    [
      'yarn.lock',
      { 'yarn.lock': 'a@^1, a@^2:\n  version "2"\n', 'package.json': '{"dependencies":{"a":"^2"}}' },
      undefined,
    ],
    [
      'yarn.lock',
      {
        'yarn.lock': '__metadata:\n  version: 8\n\n"@x/a@npm:1":\n  version: 1\n',
        'package.json': '{"dependencies":{"@x/a":"1"}}',
      },
      undefined,
    ],
    [
      'yarn.lock',
      { 'yarn.lock': 'a@^1:\n  version "1"\n', 'package.json': '{"devDependencies":{"b":"1"}}' },
      'b@1. Run yarn install',
    ],
  ];
  for (const [name, files, lacking] of cases) {
    const list = await listOf(t, name, files);
    const check = (): void => checkPackageList(list);
    if (lacking === undefined) check();
    else
      assert.throws(
        check,
        (error: Error) => error.message.includes(`which asks for ${lacking}, then submit again.`),
        name,
      );
  }
});

test('what a lock file takes from the folder is named, and from outside of it refused', async (t) => {
  const sources: readonly (readonly [string, string, (path: string) => string])[] = [
    ['uv.lock', 'pyproject.toml', (path) => `[[package]]\nname = "x"\nsource = { editable = "${path}" }\n`],
    ['poetry.lock', 'pyproject.toml', (path) => `[package.source]\ntype = "directory"\nurl = "${path}"\n`],
    ['pdm.lock', 'pyproject.toml', (path) => `[[package]]\nname = "x"\npath = "${path}"\n`],
    ['pylock.toml', 'none', (path) => `[[packages]]\nname = "x"\n[packages.directory]\npath = "${path}"\n`],
    ['pylock.toml', 'none', (path) => `[[packages]]\nname = "x"\ndirectory = { editable = true, path = "${path}" }\n`],
    [
      'package-lock.json',
      'package.json',
      (path) => JSON.stringify({ lockfileVersion: 3, packages: { 'node_modules/x': { resolved: path, link: true } } }),
    ],
    [
      'pnpm-lock.yaml',
      'package.json',
      (path) =>
        `importers:\n  .:\n    dependencies:\n      x:\n        specifier: file:${path}\n        version: file:${path}\n`,
    ],
    [
      'pnpm-lock.yaml',
      'package.json',
      (path) => `packages:\n  x@file:x:\n    resolution: {directory: ${path}, type: directory}\n`,
    ],
    ['yarn.lock', 'package.json', (path) => `"x@file:${path}":\n  version "1.0.0"\n`],
    ['yarn.lock', 'package.json', (path) => `"x@link:${path}::locator=d%40workspace%3A.":\n  version: 0.0.0\n`],
    ['renv.lock', 'none', (path) => JSON.stringify({ Packages: { x: { Source: 'Local', RemoteUrl: path } } })],
  ];
  for (const [name, project, lock] of sources) {
    const read = (path: string): Promise<PackageList> =>
      listOf(t, `a/${name}`, { [`a/${name}`]: lock(path), [`a/${project}`]: project.endsWith('json') ? '{}' : '' });
    const inside = await read('./libs/x');
    assert.notEqual(inside.localPackage, undefined, name);
    checkPackageList(inside);
    checkPackageList(await read('../beside'));
    for (const path of ['../../up', 'libs/../../../up', '/etc', 'C:/x', '~/x']) {
      const outside = await read(path);
      const message = `a/${name} takes ${path} from outside of the folder, which jobs do not have. Move it into the folder, lock again, then submit again.`;
      assert.throws(() => checkPackageList(outside), { code: 'bad-input', message });
    }
  }
});

test('a lock file of 100 MB is refused without reading it, and none is read in more than one pass', async (t) => {
  const root = temporaryFolder(t);
  writeFileSync(join(root, 'pyproject.toml'), '');
  writeFileSync(join(root, 'package.json'), '{}');
  for (const name of ['uv.lock', 'pnpm-lock.yaml', 'renv.lock', 'environment.yml']) {
    writeFileSync(join(root, name), '');
    await truncate(join(root, name), 100e6);
    await assert.rejects(readPackageList(root, { requirements: name }), { code: 'bad-input', message: /has 100 MB/ });
  }
  // What a careless pattern reads again and again from each place.
  const repeated = [
    'source = { editable = "',
    '# /// script\n',
    "'",
    'a@',
    'resolution: {directory: ',
    '- -e ',
    '\npath = ',
    '# ',
  ];
  for (const text of repeated) {
    const long = text.repeat(1e6 / text.length);
    for (const name of [
      'requirements.txt',
      'uv.lock',
      'pnpm-lock.yaml',
      'yarn.lock',
      'a.py',
      'environment.yml',
      'pylock.toml',
    ]) {
      writeFileSync(join(root, name), long);
      const startedAt = process.cpuUsage();
      try {
        const list = await readPackageList(root, { requirements: name });
        if (list !== undefined) checkPackageList(list);
      } catch (error) {
        assert.ok(error instanceof AppError, String(error));
      }
      const { user } = process.cpuUsage(startedAt);
      assert.ok(user < 5e6, `${name} of ${JSON.stringify(text)} took ${user / 1e6} s`);
    }
  }
});

test('passwords in the addresses of packages are secrets, and no refusal prints them', async (t) => {
  const address = ['https', '//ada:s3cr3tT0ken9@pypi.ada-corp.net/simple'].join(':');
  const lines = {
    'uv.lock': `source = { registry = "${address}" }`,
    'poetry.lock': `url = "${address}"`,
    'pylock.toml': `index = "${address}"`,
    'package-lock.json': `"resolved": "${address}/a-1.0.0.tgz",`,
    'requirements.txt': `--extra-index-url ${address}`,
  };
  for (const [name, line] of Object.entries(lines)) {
    assert.equal(findSecretInBytes(Buffer.from(`# ${name}\n${line}\n`)), 'password in an address', name);
  }

  const refusals = [
    await listOf(t, 'uv.lock', {
      'pyproject.toml': `[project]\nname = "demo"\ndependencies = ["other @ git+${address}"]\n`,
      'uv.lock': UV_LOCK,
    }),
    await listOf(t, 'package-lock.json', {
      'package.json': JSON.stringify({ dependencies: { other: `git+${address}` } }),
      'package-lock.json': NPM({}),
    }),
  ];
  for (const list of refusals) {
    assert.throws(
      () => checkPackageList(list),
      ({ message }: Error) => message.includes('other') && !message.includes('s3cr3t'),
    );
  }
  const local = await Promise.all([
    listOf(t, 'requirements.txt', { 'requirements.txt': `-e git+${address}` }),
    listOf(t, 'environment.yml', { 'environment.yml': `dependencies:\n- pip:\n  - -e git+${address}\n` }),
  ]);
  for (const { localPackage = '' } of local) assert.match(localPackage, /^-e git\+https:\/\/\[redacted\]@pypi/);
});

// These took minutes or more, on the machine of the user and on that of the service.
test('hostile lists of packages are read in a pass', { timeout: 120_000 }, async (t) => {
  const SPACES = ' '.repeat(100_000);
  const pip = await listOf(t, 'requirements.txt', { 'requirements.txt': `a${SPACES}b\n`.repeat(10) });
  assert.equal(pip.localPackage, undefined);
  const texts = [`dependencies:${'\n'.repeat(1_000_000)}`, `dependencies:\n- .${SPACES}x\n`];
  const conda = await Promise.all(texts.map((text) => listOf(t, 'environment.yml', { 'environment.yml': text })));
  assert.deepEqual(
    conda.map(({ localPackage }) => localPackage?.length),
    [undefined, SPACES.length + 2],
  );

  const include = '-r a.txt\n'.repeat(200_000);
  const many = await listOf(t, 'requirements.txt', { 'requirements.txt': include, 'a.txt': '-r requirements.txt\n' });
  assert.deepEqual(
    many.files.map(({ path }) => path),
    ['requirements.txt', 'a.txt'],
  );
  const names = Array.from({ length: 7 }, (_, index) => `${index}.txt`);
  const large = Object.fromEntries(names.map((name) => [name, '#'.repeat(5_000_000)]));
  const all = names.map((name) => `-r ${name}\n`).join('');
  await assert.rejects(listOf(t, 'requirements.txt', { ...large, 'requirements.txt': all }), {
    code: 'bad-input',
    message: /requirements\.txt and what it includes have more than 32\.0 MB/,
  });

  const entry = (name: string, next: string): string =>
    `[[package]]\nname = "${name}"\nversion = "1"\nsource = { registry = "https://pypi.org/simple" }\n` +
    `dependencies = [{ name = "${next}", marker = "os_name == '${next}${name}'" }]\nsdist = { hash = "${HASH}" }\n`;
  const root = `version = 1\n[[package]]\nname = "demo"\nversion = "1"\nsource = { virtual = "." }\n`;
  const start = `${root}dependencies = [{ name = "p0" }]\n`;
  const chain = Array.from({ length: 2_500 }, (_, index) => entry(`p${index}`, `p${index + 1}`));
  const twins = Array.from({ length: 2_500 }, () => entry('p0', 'p0'));
  for (const packages of [chain, twins]) {
    const files = { 'pyproject.toml': '[project]\nname = "demo"\n', 'uv.lock': start + packages.join('') };
    await assert.rejects(linesOf(t, 'uv.lock', files), { code: 'bad-input', message: /it has too many conditions$/ });
  }
});
