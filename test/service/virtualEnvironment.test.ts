import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isolateJobsWherePossible } from './support/isolation.ts';
import { skipWithoutPython, WHEEL, wheelFolder } from './support/packages.ts';
import { startService, temporaryFolder, testConfig } from './support/service.ts';

await isolateJobsWherePossible();

const skip = skipWithoutPython;

test('requirements are installed into an environment of the job, and the log shows how', { skip }, async (t) => {
  const service = await startService(t);
  const script = 'import os, sys, tiny; print(tiny.VALUE, sys.prefix != sys.base_prefix, os.environ["EXTRA"])';
  const wheel = readFileSync(join(await wheelFolder(t), WHEEL));
  const files = { 'a.py': script, [WHEEL]: wheel, 'requirements.txt': `./${WHEEL}\n` };
  for (const requirements of [[`./${WHEEL}`], 'requirements.txt']) {
    const id = await service.submit(files, { script: 'a.py', venv: { requirements, env: { EXTRA: 'set' } } });
    const job = await service.untilEnd(id);
    assert.equal(job.state, 'succeeded', job.reason ?? '');
    const output = await service.output(id);
    assert.match(await service.output(id, 'stderr'), /for this job only: .* names \.\/tiny-1\.0/);
    assert.match(output, /Successfully installed tiny-1.0/);
    assert.ok(output.endsWith('42 True set\n'), output);
    const artifacts = (await service.events(id)).filter(({ event }) => event === 'artifact');
    assert.deepEqual(artifacts, [], 'neither the environment nor compiled files come home');
  }
});

test('requirements that cannot be installed fail the job, which pays for the attempt', { skip }, async (t) => {
  const service = await startService(t);
  const venv = { requirements: ['./nothing-here.whl'] };
  const job = await service.untilEnd(await service.submit({ 'a.py': 'print(1)' }, { script: 'a.py', venv }));
  assert.equal(job.state, 'failed');
  assert.match(job.reason ?? '', /requirements could not be installed/);
  assert.equal(job.started_at, null);
  assert.ok((job.credits_charged ?? 0) > 0);
});

test('a Python or a requirements file that is not there is named', async (t) => {
  const service = await startService(t);
  const reasonFor = async (venv: object): Promise<string> =>
    (await service.untilEnd(await service.submit({ 'a.py': 'print(1)' }, { script: 'a.py', venv }))).reason ?? '';
  assert.match(await reasonFor({ python: '3.99' }), /python3.99 was not found/);
  if (skip === false) assert.match(await reasonFor({ requirements: 'none.txt' }), /has no none.txt/);
});

test('a Python without the module venv says what to install', async (t) => {
  const bin = join(await temporaryFolder(t), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'python3'), '#!/bin/sh\necho "No module named venv" >&2; exit 1\n');
  chmodSync(join(bin, 'python3'), 0o755);
  const path = process.env['PATH'];
  process.env['PATH'] = `${bin}:${path}`;
  t.after(() => (process.env['PATH'] = path));
  const service = await startService(t, { config: testConfig({ read_only: [bin] }) });
  const id = await service.submit({ 'a.py': 'print(1)' }, { script: 'a.py', venv: { requirements: [] } });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'failed');
  assert.match(job.reason ?? '', /python3-venv/);
  assert.match(await service.output(id, 'stderr'), /No module named venv/);
});

test('the environment is being built while the job is starting, and can be cancelled then', async (t) => {
  const bin = join(await temporaryFolder(t), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'python3'), '#!/bin/sh\necho building; sleep 600\n');
  chmodSync(join(bin, 'python3'), 0o755);
  const path = process.env['PATH'];
  process.env['PATH'] = `${bin}:${path}`;
  t.after(() => (process.env['PATH'] = path));
  const service = await startService(t, { config: testConfig({ read_only: [bin] }) });
  const id = await service.submit({ 'a.py': 'print(1)' }, { script: 'a.py', venv: { requirements: [] } });
  await service.untilState(id, (state) => state === 'starting');
  await service.json(`/v1/jobs/${id}`, { method: 'DELETE' });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'cancelled');
  assert.ok((job.credits_charged ?? 0) > 0);
});

test('the set-up of an environment counts as running the job: it is charged, and within the time limit', {
  skip,
}, async (t) => {
  const service = await startService(t);
  // Takes the place of Python's own module, as any package that is built on the way could do.
  const venv = 'import os, time; time.sleep(float(os.environ["SECONDS_TO_WASTE"])); raise SystemExit(1)';
  const files = { 'a.py': 'print("never")', 'm/venv.py': venv };
  const submit = (seconds: string, limit: number): Promise<string> => {
    const env = { PYTHONPATH: 'm', SECONDS_TO_WASTE: seconds };
    const meta = { script: 'a.py', max_runtime: limit, venv: { requirements: ['tiny'], env } };
    return service.submit(files, meta);
  };
  const failed = await service.untilEnd(await submit('1', 600));
  assert.equal(failed.state, 'failed');
  assert.ok((failed.credits_charged ?? 0) > 0, 'the time until it failed is charged');
  const endless = await service.untilEnd(await submit('600', 2));
  assert.equal(endless.state, 'timed_out');
  assert.equal(endless.credits_charged, endless.credit_hold);
});

test('a job whose script cannot be started pays for the programs that ran before it', { skip }, async (t) => {
  const service = await startService(t);
  // No interpreter is named, which is only noticed when the script is started.
  const files = { run: { text: 'neither a program nor a script\n', mode: 0o755 } };
  const id = await service.submit(files, { script: 'run', venv: { python: 'python3' } });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'failed');
  assert.match(job.reason ?? '', /first line does not name an interpreter/);
  assert.ok((job.credits_charged ?? 0) > 0, 'the time that its environment was set up is charged');
});
