import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scratch } from './commandLine.ts';

const LOCK = JSON.stringify({ lockfileVersion: 3, packages: { '': {} } });
const FILES = {
  'a.mjs': 'console.log("done")\n',
  'package.json': '{}',
  'package-lock.json': LOCK,
  'farwharf.json': JSON.stringify({
    profiles: {
      node: { script: 'a.mjs', requirements: 'package-lock.json' },
      none: { script: 'a.mjs', requirements: 'none.txt' },
      pipenv: { script: 'a.mjs', requirements: 'Pipfile.lock' },
    },
  }),
};

test('a submit says whether its packages are installed already, and refuses a list that cannot be', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', FILES);
  const submit = (profile: string, ...flags: readonly string[]) =>
    scratch.run(['submit', folder, '--profile', profile, ...flags], { env });
  assert.match((await submit('node', '--dry-run')).stderr, /packages: package-lock\.json will be installed first\n/);
  const first = await submit('node', '--watch');
  assert.equal(first.exit, 0, first.stderr);
  assert.match(first.stderr, /building the environment of package-lock\.json/);
  assert.match((await submit('node', '--dry-run')).stderr, /packages: package-lock\.json is installed already\n/);
  const second = await submit('node', '--watch');
  assert.match(second.stderr, /the environment of package-lock\.json is ready/);
  await scratch.folder('project', { 'package-lock.json': `${LOCK}\n` });
  assert.match((await submit('node', '--dry-run')).stderr, /will be installed first \(last time \S+ \S+\)\n/);
  const plain = await scratch.run(['submit', folder, '--script', 'a.mjs', '--dry-run'], { env });
  assert.match(
    plain.stderr,
    /packages: installs none · found package-lock\.json\. Install from package-lock\.json with --packages package-lock\.json\n/,
  );
  const chosen = ['submit', folder, '--script', 'a.mjs', '--packages', 'package-lock.json', '--dry-run', '--json'];
  const json = JSON.parse((await scratch.run(chosen, { env })).stdout) as Record<string, unknown>;
  assert.equal(json['packages'], 'package-lock.json');
  assert.deepEqual(json['package_lists'], ['package-lock.json']);
  for (const [profile, message] of [
    ['none', /The folder has no none\.txt/],
    ['pipenv', /Write the packages to a requirements file with pipenv requirements/],
  ] as const) {
    const refused = await submit(profile);
    assert.equal(refused.exit, 2);
    assert.match(refused.stderr, message);
    assert.match(refused.stderr, /Nothing was sent/);
  }
});
