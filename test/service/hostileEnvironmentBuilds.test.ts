// What one job of an account leaves in an environment for the next one, whose key may do more.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { isolateJobs, isolationIsMissing, testedIsolation } from './support/isolation.ts';
import { programs, skipWithoutPython, wheelFolder } from './support/packages.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

if ((await isolationIsMissing()) === undefined) isolateJobs();

/** Takes the place of a program of Python's own, if Python looks for it in the current folder. */
const SHADOW = `
import os, sys
print('SHADOWED')
target = sys.argv[-1]
os.makedirs(os.path.join(target, 'bin'), exist_ok=True)
`;
const HOSTILE = {
  'venv.py': SHADOW,
  'pip.py': SHADOW,
  'site.py': SHADOW,
  'pip.conf': '[global]\nindex-url = http://127.0.0.1:9/\n',
  'uv.toml': 'index-url = "http://127.0.0.1:9/"\n',
  'environment.d/x': '',
};

async function run(service: ServiceClient, files: Readonly<Record<string, string>>, meta: Record<string, unknown>) {
  const id = await service.submit(files, meta);
  const job = await service.untilEnd(id);
  return { job, output: await service.output(id), notes: await service.output(id, 'stderr') };
}

test('a file of the folder takes part in no build of an environment that later jobs use', {
  skip: skipWithoutPython,
}, async (t) => {
  const service = await startService(t);
  const meta = { script: 'a.py', venv: { python: 'python3', env: { PYTHONPATH: '.' } } };
  const script = { 'a.py': 'import sys; print("in", sys.prefix)' };
  const attacker = await run(service, { ...script, ...HOSTILE }, meta);
  assert.match(attacker.notes, /building the environment/);
  assert.doesNotMatch(attacker.output + attacker.notes, /SHADOWED/);
  const owner = await run(service, script, meta);
  assert.equal(owner.job.state, 'succeeded', owner.job.reason ?? '');
  assert.match(owner.notes, /the environment of .* is ready/);
  assert.match(owner.output, /^in \/.*\/environments\//);
});

test('requirements are installed from the copies that were hashed, by a pip that loads nothing of the folder', {
  skip: skipWithoutPython,
}, async (t) => {
  const wheels = await wheelFolder(t);
  const service = await startService(t, { config: testConfig({ read_only: [wheels] }) });
  const env = { PIP_FIND_LINKS: wheels, PIP_NO_INDEX: '1', PIP_CONFIG_FILE: './pip.conf', PYTHONPATH: '.' };
  const files = {
    ...HOSTILE,
    'pip.conf': '[install]\ntarget = /nowhere\n',
    'lists/requirements.txt': '-r ../more.txt\n',
    'more.txt': 'tiny == 1.0\n',
    'a.sh': 'python -c "import tiny; print(tiny.VALUE)"',
  };
  const { job, output } = await run(service, files, {
    script: 'a.sh',
    venv: { requirements: 'lists/requirements.txt', env },
  });
  assert.equal(job.state, 'succeeded', `${job.reason} ${output}`);
  assert.match(output, /Successfully installed tiny-1\.0/);
  assert.doesNotMatch(output, /SHADOWED/);
});

/** Prints what an installer can see of the job, and makes what uv makes. */
const LOOKING = `
echo "here: $(ls -A | tr '\\n' ' ')"
echo "beside: $(ls -A .. | tr '\\n' ' ')"
for each in "$OLDPWD" "$PWD/../../workspace" "$FARWHARF_ARTIFACTS" ./private.txt ../private.txt; do
  [ -n "$each" ] && [ -e "$each/private.txt" -o -f "$each" ] && echo "SEEN $each"
done
echo "variables: \${FARWHARF_ARTIFACTS:-none} \${PYTHONPATH:-none} \${CHOSEN:-none}"
[ "$1" != sync ] || { mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"; echo x >> pyproject.toml && echo CHANGED; }
exit 0`;

test('a build of packages that are kept sees the listed files, read-only, and nothing else of the job', async (t) => {
  const cache = await temporaryFolder(t);
  const isShown = testedIsolation() === 'none' ? 'true' : `! [ -e '${cache}' ]`;
  const bin = await programs(t, { uv: `${isShown} || echo "SEEN ${cache}"\n${LOOKING}` });
  const service = await startService(t, { config: testConfig({ read_only: [bin], writable: [cache] }) });
  const files = {
    'a.sh': 'true',
    'private.txt': 'private',
    'app/uv.lock': 'version = 1\n',
    'app/pyproject.toml': '',
    'app/uv.toml': '',
  };
  const venv = { requirements: 'app/uv.lock', env: { CHOSEN: 'by the account' } };
  const { output } = await run(service, files, { script: 'a.sh', venv });
  assert.match(output, /^here: pyproject\.toml uv\.lock \nbeside: app \nvariables: none none none\n/);
  assert.doesNotMatch(output, testedIsolation() === 'none' && process.getuid?.() === 0 ? /SEEN/ : /SEEN|CHANGED/);
});

async function keyWith(t: TestContext, service: ServiceClient, terms: object): Promise<ServiceClient> {
  const admin = await openAdmin(service.data, { mayCreate: false });
  t.after(() => admin[Symbol.dispose]());
  return service.withKey((await admin.call('keys.add', { account_id: 'local', ...terms })).key);
}

test('what a restricted key builds is used by its own jobs alone', async (t) => {
  const npm = 'mkdir -p node_modules/.bin; echo installed';
  const bin = await programs(t, { npm });
  const service = await startService(t, { config: testConfig({ read_only: [bin] }) });
  const files = { 'a.sh': 'true', 'package.json': '{}', 'package-lock.json': '{"lockfileVersion":3,"packages":{}}' };
  const builds = async (client: ServiceClient): Promise<boolean> => {
    const { job, output, notes } = await run(client, files, {
      script: 'a.sh',
      venv: { requirements: 'package-lock.json' },
    });
    assert.equal(job.state, 'succeeded', `${job.reason} ${notes}`);
    return output.startsWith('installed');
  };
  const restricted = {
    'without secrets': await keyWith(t, service, { scopes: ['submit', 'read'] }),
    'with a budget': await keyWith(t, service, { budget: 1000 }),
  };
  for (const [name, client] of Object.entries(restricted)) {
    assert.equal(await builds(client), true, name);
    assert.equal(await builds(client), false, `${name}, again`);
    const { environments } = await client.json<{ environments: unknown[] }>('/v1/environments');
    assert.equal(environments.length, 1);
  }
  assert.equal(await builds(service), true, 'the account');
  assert.equal(await builds(await keyWith(t, service, { scopes: ['submit', 'read', 'secrets'] })), false);
});
