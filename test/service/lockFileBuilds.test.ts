// Packages from the files that projects have: with the real pip, and with stand-ins of the tools that machines lack.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isolateJobsWherePossible } from './support/isolation.ts';
import { programs, skipWithoutPython, WHEEL, wheelFolder } from './support/packages.ts';
import { type ServiceClient, startService, testConfig } from './support/service.ts';

await isolateJobsWherePossible();

async function run(service: ServiceClient, files: Readonly<Record<string, string>>, meta: Record<string, unknown>) {
  const id = await service.submit(files, meta);
  const job = await service.untilEnd(id);
  return { job, output: await service.output(id), notes: await service.output(id, 'stderr') };
}

test('the project of a uv.lock runs where only pip is, and what does not fit it is refused', {
  skip: skipWithoutPython,
}, async (t) => {
  const wheels = await wheelFolder(t);
  const service = await startService(t, { config: testConfig({ read_only: [wheels] }) });
  const hash = createHash('sha256')
    .update(readFileSync(join(wheels, WHEEL)))
    .digest('hex');
  const files = {
    'a.py': 'import tiny; print("tiny", tiny.VALUE)\n',
    'pyproject.toml': '[project]\nname = "demo"\nversion = "1"\ndependencies = ["tiny>=1"]\n',
    'uv.lock': `version = 1
requires-python = ">=3.8, <4"
[[package]]
name = "demo"
version = "1"
source = { virtual = "." }
dependencies = [{ name = "tiny" }]
[package.metadata]
requires-dist = [{ name = "tiny", specifier = ">=1" }]
[[package]]
name = "tiny"
version = "1.0"
source = { registry = "https://pypi.org/simple" }
wheels = [{ url = "https://example.org/${WHEEL}", hash = "sha256:${hash}" }]
`,
  };
  const env = { PIP_FIND_LINKS: wheels, PIP_NO_INDEX: '1' };
  const submit = (requirements: string, more: Readonly<Record<string, string>> = {}) =>
    run(service, { ...files, ...more }, { script: 'a.py', venv: { requirements, env } });
  const { job, output, notes } = await submit('uv.lock');
  assert.equal(job.state, 'succeeded', `${job.reason ?? ''}\n${output}`);
  assert.match(output, /^tiny 42$/m);
  assert.match(notes, /building the environment of uv\.lock/);
  assert.match(notes, /install .* --require-hashes --no-deps --requirement /);
  const newer = '# /// script\n# requires-python = ">=3.8,!=2.*,>=3.99"\n# ///\n';
  const later = await submit('a.py', { 'a.py': newer });
  assert.match(
    later.job.reason ?? '',
    /^a\.py needs Python >=3\.8,!=2\.\*,>=3\.99, and python3? is another version\..* This is Python 3\.\d/,
  );
  const stale = await submit('uv.lock', { 'uv.lock': files['uv.lock'].replace('">=1"', '"<1"') });
  assert.match(stale.job.reason ?? '', /uv\.lock does not fit pyproject\.toml, which asks for tiny>=1\. Run uv lock/);
});

/** Prints its arguments, where it is, and the variables that it got, and installs a program. */
const STAND_IN = (place: string): string => `
echo "called $(basename "$0") $*"
env | grep -E '^(YARN|PDM|RENV|CI=)' | sort
ls | sort | tr '\\n' ' '; echo
mkdir -p ${place} && printf '#!/bin/sh\\necho used\\n' > ${place}/tool && chmod +x ${place}/tool`;

test('each other lock file is installed by its own tool, which gets the arguments that keep to it', async (t) => {
  const node = STAND_IN('node_modules/.bin');
  const python = STAND_IN('$VIRTUAL_ENV/bin');
  const r = `for each in "$@"; do last=$before; before=$each; done; [ -d "$last" ] || exit 3; ${STAND_IN('$last/mytool')}`;
  const python3 = 'for each in "$@"; do target=$each; done; mkdir -p "$target/bin"';
  const bin = await programs(t, { python3, pnpm: node, yarn: node, poetry: python, pdm: python, Rscript: r });
  const service = await startService(t, { config: testConfig({ read_only: [bin] }) });
  const submit = (requirements: string, files: Readonly<Record<string, string>>, script = 'tool') =>
    run(service, { 'a.sh': script, ...files }, { script: 'a.sh', venv: { requirements } });
  const [pnpm, yarn1, yarn, poetry, pdm, renv] = await Promise.all([
    submit('pnpm-lock.yaml', {
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      'package.json': '{}',
      'pnpm-workspace.yaml': 'overrides: {}',
    }),
    submit('yarn.lock', { 'yarn.lock': '# yarn lockfile v1\n', 'package.json': '{}' }),
    submit('yarn.lock', {
      'yarn.lock': '__metadata:\n  version: 8\n',
      'package.json': '{}',
      '.yarnrc.yml': 'yarnPath: evil.cjs\n',
    }),
    submit('sub/poetry.lock', {
      'sub/poetry.lock': '[[package]]\nname = "a"\nversion = "1"\n',
      'sub/pyproject.toml': '',
    }),
    submit('pdm.lock', { 'pdm.lock': '[metadata]\nlock_version = "4.0"\n', 'pyproject.toml': '' }),
    submit(
      'renv.lock',
      { 'renv.lock': '{"R":{},"Packages":{}}' },
      '"$R_LIBS/mytool/tool"; echo "$RENV_CONFIG_AUTOLOADER_ENABLED"',
    ),
  ]);
  for (const { job, output } of [pnpm, yarn1, yarn, poetry, pdm, renv]) {
    assert.equal(job.state, 'succeeded', `${job.reason ?? ''}\n${output}`);
    assert.match(output, /^used$/m);
  }
  assert.match(
    pnpm.output,
    /^called pnpm install --frozen-lockfile --config\.package-import-method=copy\nCI=true\npackage\.json pnpm-lock\.yaml pnpm-workspace\.yaml $/m,
  );
  assert.match(yarn1.output, /^called yarn install --frozen-lockfile$/m);
  assert.match(
    yarn.output,
    /^called yarn install --immutable --frozen-lockfile\nYARN_ENABLE_TELEMETRY=0\nYARN_IGNORE_PATH=1\nYARN_NODE_LINKER=node-modules\n\.?/m,
  );
  assert.match(
    poetry.output,
    /^called poetry install --no-root --only main --no-interaction --no-ansi\npoetry\.lock pyproject\.toml $/m,
  );
  assert.match(
    pdm.output,
    /^called pdm sync --prod --no-self --no-editable\nPDM_CHECK_UPDATE=0\nPDM_IGNORE_SAVED_PYTHON=1\npdm\.lock pyproject\.toml $/m,
  );
  assert.match(
    renv.output,
    /^called Rscript --vanilla -e args <- .*renv::restore\(.* \/\S+ \/\S+\/library \/\S+\/renv\.lock$/m,
  );
  assert.match(renv.output, /^RENV_CONFIG_AUTOLOADER_ENABLED=FALSE\nRENV_CONFIG_CACHE_ENABLED=FALSE$/m);
  assert.match(renv.output, /used\nFALSE\n$/);
});

test('the reason of a build that failed has the last lines of its tool, cleaned', async (t) => {
  const npm = String.raw`printf 'working\rat it\n\033[31merror\033[0m at https://me:s3cret@example.org/x\n\n\a2 problems\u202e\n' >&2; exit 1`;
  await programs(t, { npm });
  const service = await startService(t, {
    config: testConfig({ read_only: [(process.env['PATH'] ?? '').split(':')[0] ?? ''] }),
  });
  const files = { 'a.sh': '', 'package.json': '{}', 'package-lock.json': '{"lockfileVersion":3,"packages":{}}' };
  const { job } = await run(service, files, { script: 'a.sh', venv: { requirements: 'package-lock.json' } });
  const lines = 'at it / error at https://***@example.org/x / 2 problems';
  assert.equal(
    job.reason?.replaceAll('\\u202e', ''),
    `The packages of package-lock.json could not be installed. The last lines of npm: ${lines}`,
  );
});
