import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isolateJobsWherePossible } from './support/isolation.ts';
import { programs, skipWithoutPython, WHEEL, wheelFolder } from './support/packages.ts';
import { type ServiceClient, startService, testConfig } from './support/service.ts';

await isolateJobsWherePossible();

/** How a script ends: its state and exit status, and what it printed. */
async function ends(service: ServiceClient, files: Parameters<ServiceClient['submit']>[0], meta: object | string) {
  const terms = typeof meta === 'string' ? { script: meta } : meta;
  const id = await service.submit(files, { ...terms });
  const { state, exit_code: code, reason, credits_charged: cost } = await service.untilEnd(id);
  return { state, code, reason, cost, output: await service.output(id), errors: await service.output(id, 'stderr') };
}

test('the first line of a script decides with which program and options it runs, whatever its name and mode', async (t) => {
  const service = await startService(t);
  const stops = '\nfalse\necho on\n';
  for (const [name, text] of [
    ['run.sh', `#!/bin/bash -e${stops}`],
    ['run.sh', `#! /bin/sh  -e ${stops}`],
    ['run', `#!/usr/bin/env -S bash -e${stops}`],
    ['run.py', `#!/bin/sh -e${stops}`],
    ['run.txt', `#!/bin/sh -eu${stops}`],
  ] as const) {
    const ended = await ends(service, { [name]: text }, name);
    assert.deepEqual([ended.state, ended.code, ended.output], ['failed', 1, ''], `${name} ${text}: ${ended.errors}`);
  }
  const unset = await ends(service, { 'run.sh': '#!/bin/bash -u\necho $NOTHING_OF_THE_KIND\necho on\n' }, 'run.sh');
  assert.match(unset.errors, /unbound variable/);
  const login = 'shopt -q login_shell && echo login "$0" "$@"\n';
  const asLogin = await ends(service, { 'sub/run.sh': `#!/bin/bash -l\n${login}` }, `sub/run.sh 'a b'`);
  assert.match(asLogin.output, /login \/.*\/sub\/run\.sh a b\n$/);
  const plain = await ends(service, { 'run.sh': 'echo "$0" "$@"\n' }, 'run.sh c');
  assert.match(plain.output, /\/run\.sh c\n$/);
});

test('the line ends of Windows after the first line of a script do not hide its program, and the log says what a shell cannot read', async (t) => {
  const service = await startService(t);
  const perl = await ends(service, { 'run.txt': '#!/usr/bin/env perl\r\nprint "on\\n";\r\n' }, 'run.txt');
  if (spawnSync('perl', ['-v']).error === undefined) assert.equal(perl.output, 'on\n', perl.reason ?? '');
  const shell = await ends(service, { 'run.sh': '#!/bin/bash\r\nif true; then\r\necho on\r\nfi\r\n' }, 'run.sh');
  assert.equal(shell.state, 'failed');
  assert.match(shell.errors, /^farwharf: run\.sh has the line ends of Windows, which shells cannot read/);
});

test('a program that is not there is named, and costs nothing', async (t) => {
  const service = await startService(t);
  for (const [text, reason] of [
    ['#!/usr/bin/env no-such-program\n', /first line of run\.sh names no-such-program, which was not found/],
    ['#!/opt/none/bin/bash\n', /names \/opt\/none\/bin\/bash, which does not exist .*Write #!\/usr\/bin\/env bash/],
    ['#!/opt/none/zork -x\n', /names \/opt\/none\/zork, which does not exist .*Correct the line/],
  ] as const) {
    const ended = await ends(service, { 'run.sh': text }, 'run.sh');
    assert.equal(ended.state, 'failed');
    assert.match(ended.reason ?? '', reason);
    assert.equal(ended.cost, 0);
  }
});

test('without such a line, the name of a file decides, and the service names what it can run', async (t) => {
  const echo = 'echo "$(basename "$0") $*"; cat "$1"';
  const bin = await programs(t, { Rscript: echo, julia: echo, ruby: echo, perl: echo });
  const service = await startService(t, { config: testConfig({ read_only: [bin] }) });
  const { scripts } = await service.json<{ scripts: { kind: string; files: string[] }[] }>('/v1/me');
  const kinds = scripts.map(({ kind }) => kind);
  for (const kind of ['shell', 'javascript', 'typescript', 'r', 'julia', 'perl', 'ruby'])
    assert.ok(kinds.includes(kind), kind);
  assert.deepEqual(scripts.find(({ kind }) => kind === 'r')?.files, ['*.R', '*.r']);
  for (const [name, program] of [
    ['a.R', 'Rscript'],
    ['a.jl', 'julia'],
    ['a.rb', 'ruby'],
    ['a.pl', 'perl'],
  ] as const) {
    const ended = await ends(service, { [name]: 'text' }, `${name} 1`);
    assert.equal(ended.state, 'succeeded', ended.reason ?? ended.errors);
    assert.match(ended.output, new RegExp(`^${program} /.*/${name} 1\ntext$`));
  }
  const types = await ends(service, { 'a.ts': 'const n: number = 1; console.log(n);' }, 'a.ts');
  assert.equal(types.output, '1\n');
});

test('a makefile is run by make, in its folder', {
  skip: spawnSync('make', ['-v']).error === undefined ? false : 'LOUD: make is not installed on this machine',
}, async (t) => {
  const service = await startService(t);
  const rules = 'all:\n\t@echo all $(X) > made\nother:\n\t@echo other\n';
  const all = await ends(service, { Makefile: rules }, 'Makefile X=1');
  assert.equal(all.state, 'succeeded', all.errors);
  const other = await ends(
    service,
    { 'sub/rules.mk': 'other:\n\t@cat near\n', 'sub/near': 'near' },
    'sub/rules.mk other',
  );
  assert.match(other.output, /near/);
});

test('what cannot be run is refused, with what to do, and what has no program here is not listed', async (t) => {
  const service = await startService(t);
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  t.after(() => (process.env['PATH'] = path));
  const { scripts } = await service.json<{ scripts: { kind: string }[] }>('/v1/me');
  assert.deepEqual(
    scripts.map(({ kind }) => kind),
    ['javascript', 'typescript'],
  );
  const refusal = async (name: string, text: string | Buffer): Promise<string> => {
    const response = await service.send({ [name]: text }, { script: name });
    const { detail = 'accepted' } = (await response.json()) as { detail?: string };
    return detail;
  };
  assert.match(await refusal('notes.txt', 'text'), /does not name a program .* not executable \(chmod \+x\)/);
  // Larger than what the database stores, so that it is unpacked at once.
  const noise = Buffer.from(Array.from({ length: 600_000 }, (_, index) => (index * 7919 * index) % 251));
  assert.match(await refusal('notes.txt', noise), /cannot be run/);
  assert.equal(await refusal('run.txt', '#!/bin/sh\n'), 'accepted');
  const ended = await ends(service, { 'a.R': 'print(1)' }, 'a.R');
  assert.match(ended.reason ?? '', /a\.R is run with Rscript, which was not found/);
  assert.equal(ended.cost, 0);
  const notebook = await ends(service, { 'a.ipynb': '{}' }, 'a.ipynb');
  assert.match(notebook.reason ?? '', /python3 was not found on the machine that runs jobs/);
});

test('a script finds the packages of its job, although its first line names the Python of the machine', {
  skip: skipWithoutPython,
}, async (t) => {
  const service = await startService(t);
  const wheel = readFileSync(join(await wheelFolder(t), WHEEL));
  const meta = { script: 'a.txt', venv: { requirements: [`./${WHEEL}`] } };
  const files = { 'a.txt': '#!/usr/bin/python3\nimport tiny; print(tiny.VALUE)\n', [WHEEL]: wheel };
  const ended = await ends(service, files, meta);
  assert.equal(ended.state, 'succeeded', `${ended.reason} ${ended.errors}`);
  assert.match(ended.output, /42\n$/);
});
