import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isolateJobsWherePossible } from './support/isolation.ts';
import { programs, skipWithoutPython, WHEEL, wheelFolder } from './support/packages.ts';
import { type ServiceClient, startService, testConfig } from './support/service.ts';

await isolateJobsWherePossible();

interface CommandBody {
  readonly script: string;
  readonly command: readonly string[] | null;
}

/** How a command ends: its state and exit status, and what it printed. */
async function ends(
  service: ServiceClient,
  command: readonly string[],
  files: Parameters<ServiceClient['submit']>[0] = { 'a.txt': 'text' },
  meta: Record<string, unknown> = {},
) {
  const id = await service.submit(files, { command, ...meta });
  const { state, exit_code: code, reason, credits_charged: cost } = await service.untilEnd(id);
  const output = await service.output(id);
  return { id, state, code, reason, cost, output, errors: await service.output(id, 'stderr') };
}

describe('a job that runs a command', { concurrency: false }, () => {
  test('gets its arguments as they are, without a shell, in its folder and environment', async (t) => {
    const service = await startService(t);
    const { features } = await service.json<{ features: string[] }>('/v1/me');
    assert.ok(features.includes('command'), String(features));
    const words = ['a b', "it's", '"', '$HOME', '`id`', '*', '|', '>x', '&&', '', 'ü\nnew line', '\\n', '--', '-x'];
    const script =
      'import json, os, sys; print(json.dumps([sys.argv[1:], os.listdir(), os.environ["V"], bool(os.environ["FARWHARF_JOB_ID"])])); open("made.txt", "w").write("made"); sys.exit(3)';
    const ended = await ends(
      service,
      ['python3', '-c', script, ...words],
      { 'a.txt': '' },
      { venv: { env: { V: '$V' } } },
    );
    assert.deepEqual([ended.state, ended.code], ['failed', 3], ended.reason ?? ended.errors);
    const [args, listed, variable, hasId] = JSON.parse(ended.output) as [string[], string[], string, boolean];
    assert.deepEqual([args, listed.toSorted(), variable, hasId], [words, ['a.txt', 'artifacts'], '$V', true]);
    assert.ok((ended.cost ?? 0) > 0);
    const results = (await service.events(ended.id)).filter(({ event }) => event === 'artifact');
    assert.deepEqual(
      results.map(({ data }) => data['path']),
      ['made.txt'],
    );
    const job = (await service.job(ended.id)) as unknown as CommandBody;
    assert.deepEqual(job.command, ['python3', '-c', script, ...words]);
    assert.ok(job.script.startsWith("python3 -c 'import json"), job.script);
    assert.doesNotMatch(job.script, /\n/);
  });

  test('runs a program of the folder by its path, and a shell where the user names one', async (t) => {
    const service = await startService(t);
    const tool = { 'bin/tool': { text: '#!/bin/sh\necho "tool $*"\n', mode: 0o755 } };
    assert.equal((await ends(service, ['bin/tool', 'x y'], tool)).output, 'tool x y\n');
    assert.equal((await ends(service, ['./bin/tool'], tool)).output, 'tool \n');
    assert.equal((await ends(service, ['sh', '-c', 'echo a | tr a b && echo "$0" "$1"', 'c', 'd'])).output, 'b\nc d\n');
    const killed = await ends(service, ['sh', '-c', 'kill -9 $$']);
    assert.match(killed.reason ?? '', /^The command was stopped by SIGKILL/);
  });

  test('fails with a sentence that names a program that is not there, and the remedy, at no cost', async (t) => {
    const service = await startService(t);
    const files = { 'run.sh': 'echo on\n', plain: { text: 'no first line', mode: 0o755 }, 'a.txt': '' };
    for (const [command, reason] of [
      [
        ['no-such-program', 'x'],
        /^no-such-program was not found on the machine .*Install it there or with the job's packages/,
      ],
      [['run.sh'], /^run\.sh was not found .*To run the file of the folder, write \.\/run\.sh$/],
      [['./run.sh'], /^\.\/run\.sh is not executable.*bash \.\/run\.sh$/],
      [['./gone'], /^\.\/gone does not exist .*Check that it is in the folder/],
      [['/opt/none/bin/sh'], /^\/opt\/none\/bin\/sh does not exist .*Write sh to use the one that is there/],
      [['/opt/none/zork'], /^\/opt\/none\/zork does not exist .*install the program there/],
      [['./plain'], /^\.\/plain cannot be started, because its first line .*such as bash\.$/],
      [['no\u001b[2J\u202e\nsuch'], /^no such was not found/],
      [['x'.repeat(30_000)], /^x{200}… was not found .*Install it there/],
    ] as const) {
      const ended = await ends(service, command, files);
      assert.equal(ended.state, 'failed');
      assert.match(ended.reason ?? '', reason);
      assert.equal(ended.cost, 0);
    }
  });

  test('is refused with what is wrong, before a job exists', async (t) => {
    const service = await startService(t);
    for (const [meta, problem] of [
      [{ command: [] }, /meta\.command: must begin with the name of a program/],
      [{ command: ['', 'x'] }, /meta\.command: must begin with the name of a program/],
      [{ command: ['--uid=0', 'x'] }, /meta\.command: must begin with the name of a program/],
      [{ command: ['echo', 'a\0b'] }, /meta\.command\.1: must not contain NUL/],
      [{ command: 'echo a' }, /meta\.command: /],
      [{ command: ['echo', 1] }, /meta\.command\.1: /],
      [
        { command: ['echo', 'x'.repeat(100_000)] },
        /meta\.command: must be at most 32 KB\. Write a longer command into a script/,
      ],
      [{ command: ['echo', ...Array<string>(1_001).fill('x')] }, /meta\.command: must be at most 1000 words/],
      [{ command: ['echo'], script: 'a.txt' }, /meta\.script: must be there, or "command" in its place, and not both/],
      [{}, /meta\.script: must be there, or "command" in its place/],
    ] as const) {
      const response = await service.send({ 'a.txt': '' }, meta);
      const { detail } = (await response.json()) as { detail: string };
      assert.equal(response.status, 400, JSON.stringify(meta).slice(0, 100));
      assert.match(detail, problem);
    }
    const { jobs } = await service.json<{ jobs: unknown[] }>('/v1/jobs');
    assert.deepEqual(jobs, []);
    const most = ['echo', ...Array<string>(900).fill("it's")];
    assert.equal((await ends(service, most)).output, `${most.slice(1).join(' ')}\n`);
  });

  test('finds the programs of its packages first, and the folder knows nothing of the search path', {
    skip: skipWithoutPython,
  }, async (t) => {
    const bin = await programs(t, { Rscript: 'echo "$(basename "$0") $*"; cat "$1"' });
    const service = await startService(t, { config: testConfig({ read_only: [bin] }) });
    const r = await ends(service, ['Rscript', 'a.R', '1'], { 'a.R': 'text', Rscript: { text: 'no', mode: 0o755 } });
    assert.equal(r.output, 'Rscript a.R 1\ntext');
    const wheel = readFileSync(join(await wheelFolder(t), WHEEL));
    const meta = { venv: { requirements: [`./${WHEEL}`] } };
    const python = await ends(service, ['python', '-c', 'import tiny; print(tiny.VALUE)'], { [WHEEL]: wheel }, meta);
    assert.match(python.output, /42\n$/, python.errors);
  });

  test('runs a target of make', {
    skip: spawnSync('make', ['-v']).error === undefined ? false : 'LOUD: make is not installed on this machine',
  }, async (t) => {
    const service = await startService(t);
    const ended = await ends(service, ['make', '-s', 'all', 'X=a b'], {
      Makefile: 'all:\n\t@echo "all $(X)" | tee made\n',
    });
    assert.equal(ended.output, 'all a b\n', ended.errors);
  });
});
