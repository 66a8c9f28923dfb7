import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readStateFile } from '../../src/service/stateFile.ts';
import { interruptAt, jsonLines, Scratch, startFake, until } from './commandLine.ts';
import { GATE, openGate } from './support/gate.ts';

const WAITING = { 'wait.sh': 'echo waiting\nsleep 600\n', 'done.sh': 'true\n' };

test('Ctrl+C while watching leaves the job running and says how to come back', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', WAITING);
  const left = await scratch.run(['submit', folder, '--script', 'wait.sh', '--watch', '--download'], {
    env,
    onOutput: interruptAt('waiting'),
  });
  assert.equal(left.exit, 130, left.stderr);
  const id = /farwharf cancel (\S+)/.exec(left.stderr)?.[1] ?? '';
  assert.match(left.stderr, new RegExp(`farwharf watch ${id}`));
  const [job = {}] = jsonLines((await scratch.run(['job', id, '--json'], { env })).stdout);
  assert.equal(job['state'], 'running');
  const cancelled = await scratch.run(['cancel', id], { env });
  assert.deepEqual(
    [cancelled.exit, /is being stopped|was stopped/.test(cancelled.stdout)],
    [0, true],
    cancelled.stderr,
  );
  const short = await scratch.run(['submit', folder, '--script', 'done.sh', '--watch', '--json'], { env });
  const [{ job_id: ended } = {}] = jsonLines(short.stdout);
  assert.match((await scratch.run(['cancel', String(ended)], { env })).stdout, /had already ended: succeeded/);
});

test('the answer to stopping a job without a price does not speak of paying', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', WAITING);
  const sent = await scratch.run(['submit', folder, '--script', 'wait.sh']);
  assert.equal(sent.exit, 0, sent.stderr);
  const cancelled = await scratch.run(['cancel', sent.stdout.trim()]);
  assert.match(cancelled.stdout, /^Job \w+ (is being|was) stopped\.\n$/);
});

test('Ctrl+C while sending leaves nothing: no job at the service, no record, no archive', async () => {
  await using scratch = await Scratch.create();
  const upload = Promise.withResolvers<unknown>();
  await using fake = await startFake((request, response) => {
    if (request.method === 'GET') response.end('{"credits": 10}');
    else upload.resolve(request.pause()); // and never reads on
  });
  const { env } = fake;
  const folder = await scratch.folder('project', { 'run.sh': '' });
  await writeFile(join(folder, 'data.bin'), randomBytes(24 << 20));
  let hasInterrupted = false;
  const done = await scratch.run(['submit', folder, '--script', 'run.sh'], {
    env,
    onOutput({ stderr }, interrupt) {
      if (!hasInterrupted && stderr.includes('packed')) void upload.promise.then(() => interrupt());
      hasInterrupted ||= stderr.includes('packed');
    },
  });
  assert.equal(done.exit, 130, done.stderr);
  const left = await readdir(scratch.home, { recursive: true });
  assert.deepEqual(
    left.filter((path) => path.includes('.tar.gz') || path.includes('partial')),
    [],
  );
  assert.match((await scratch.run(['jobs'], { env })).stdout, /^No jobs/);
});

test('other signals end a command as Ctrl+C does, each with its own status', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', WAITING);
  for (const [signal, status] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    const left = await scratch.run(['submit', folder, '--script', 'wait.sh', '--watch'], {
      env,
      onOutput: interruptAt('waiting', signal),
    });
    assert.equal(left.exit, status, left.stderr);
    const id = /farwharf cancel (\S+)/.exec(left.stderr)?.[1] ?? '';
    assert.equal((await scratch.run(['cancel', id], { env })).exit, 0);
  }
});

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`a second ${signal} ends a command at once`, async () => {
    await using scratch = await Scratch.create();
    const asked = Promise.withResolvers<void>();
    let requests = 0;
    // Never answers; the command asks a second time what became of its upload, and waits.
    await using fake = await startFake((request, response) => {
      if (request.method === 'POST') request.resume().on('end', () => asked.resolve());
      else if (request.url?.includes('/submissions/')) requests += 1;
      else response.end('{"credits": 10}');
    });
    const folder = await scratch.folder('project', { 'run.sh': '' });
    let isFirst = true;
    const done = await scratch.run(['submit', folder, '--script', 'run.sh'], {
      env: fake.env,
      onOutput({ stderr }, interrupt) {
        if (!isFirst || !stderr.includes('packed')) return;
        isFirst = false;
        const interruptTwice = async (): Promise<void> => {
          await asked.promise;
          interrupt(signal);
          await until(() => requests > 0);
          interrupt(signal);
        };
        void interruptTwice();
      },
    });
    assert.equal(done.exit, status, done.stderr);
    assert.doesNotMatch(done.stderr, /You stopped before/);
  });
}

test('a service that is killed while its job is watched is started again, and the log continues without a gap', async () => {
  await using scratch = await Scratch.create();
  const lines = Array.from({ length: 20 }, (_, i) => `tick ${i}`);
  const script = lines.map((line, i) => (i === 10 ? `${GATE}\necho ${line}` : `echo ${line}`)).join('\n');
  const folder = await scratch.folder('project', { 'tick.sh': script });
  let isKilled = false;
  let isOpen = false;
  const done = await scratch.run(['submit', folder, '--script', 'tick.sh', '--watch'], {
    onOutput({ stdout, stderr }) {
      if (isKilled && !isOpen && stderr.includes('does not respond')) {
        isOpen = true;
        void openGate(join(scratch.home, 'service'));
      }
      if (isKilled || !stdout.includes('tick 5')) return;
      isKilled = true;
      process.kill(readStateFile(join(scratch.home, 'service', 'state.json'))?.pid ?? assert.fail(), 'SIGKILL');
    },
  });
  assert.equal(done.exit, 0, done.stderr);
  assert.equal(done.stdout, `${lines.join('\n')}\n`);
  assert.match(done.stderr, /service on this machine does not respond\..*responds again\./s);
});
