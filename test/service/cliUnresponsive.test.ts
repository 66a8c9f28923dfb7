import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readStateFile } from '../../src/service/stateFile.ts';
import { type Finished, Scratch, startFake } from './commandLine.ts';
import { GATE, openGate } from './support/gate.ts';

const SCRIPT = `echo before\n${GATE}\necho after\n`;
const JSON_JOB = /^([0-9a-f]{20})\n/;

/** Stops a service, which then responds to nobody, until the output says so. */
function hangUntil(pid: number, once: string, said: string, afterwards: () => void) {
  const steps = [
    { isDue: ({ stdout }: Finished) => stdout.includes(once), act: () => process.kill(pid, 'SIGSTOP') },
    { isDue: ({ stderr }: Finished) => stderr.includes(said), act: () => process.kill(pid, 'SIGCONT') },
    { isDue: ({ stderr }: Finished) => stderr.includes('responds again'), act: afterwards },
  ];
  return (output: Finished): void => {
    if (steps[0]?.isDue(output) === true) steps.shift()?.act();
  };
}

test('everyone who watches a job of a service that hangs learns that, and that it is back, and sees the whole log', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serveAsProcess();
  const { env, pid, data } = service;
  const folder = await scratch.folder('project', { 'run.sh': SCRIPT });
  const sent = await scratch.run(['submit', folder, '--script', 'run.sh'], { env });
  const [, job = assert.fail(sent.stderr)] = JSON_JOB.exec(sent.stdout) ?? [];
  const watching = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
  const warned = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
  const returned = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
  const watch = (name: 'first' | 'second'): Promise<Finished> =>
    scratch.run(['watch', job], {
      env,
      onOutput: ({ stdout, stderr }) => {
        if (stdout.includes('before')) watching[name].resolve();
        if (stderr.includes('127.0.0.1:')) warned[name].resolve();
        if (stderr.includes('responds again')) returned[name].resolve();
      },
    });
  // Only one of them has a stream from the service; the other reads what it stores.
  const watchers = [watch('first'), watch('second')];
  await Promise.all([watching.first.promise, watching.second.promise]);
  process.kill(pid, 'SIGSTOP');
  await Promise.all([warned.first.promise, warned.second.promise]);
  const listed = await scratch.run(['jobs'], { env });
  process.kill(pid, 'SIGCONT');
  await Promise.all([returned.first.promise, returned.second.promise]);
  await openGate(data, job);
  for (const { exit, stdout, stderr } of await Promise.all(watchers)) {
    assert.deepEqual([exit, stdout], [0, 'before\nafter\n'], stderr);
    const says =
      'does not respond\\. Its jobs keep running\\. Waiting for it; Ctrl\\+C stops waiting\\.\n  If this continues, ';
    assert.match(stderr, new RegExp(`127\\.0\\.0\\.1:\\d+ ${says}.*responds again`, 's'));
  }
  assert.match(listed.stderr, /does not respond\. Its jobs keep running.*show their last known state/s);
  assert.match(listed.stdout, new RegExp(job));
});

test('a service that is away is said to respond again only when it does', async () => {
  await using scratch = await Scratch.create();
  let requests = 0;
  await using fake = await startFake(({ url, socket }, response) => {
    requests += 1;
    // The job is known, and then two attempts fail: the stream, and what is asked before and after the wait that follows it.
    if (requests > 1 && requests < 7) socket.destroy();
    else if (url?.endsWith('/events') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('event: end\nid: 1\ndata: {"state":"succeeded","exit_code":0}\n\n');
    } else response.end('{"job_id":"j1","state":"succeeded","exit_code":0}');
  });
  const { exit, stderr } = await scratch.run(['watch', 'j1'], fake);
  assert.equal(exit, 0, stderr);
  assert.deepEqual(stderr.match(/does not respond|responds again/g), ['does not respond', 'responds again'], stderr);
});

test('the local service that hangs is named with how to end it', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', { 'run.sh': SCRIPT });
  const stateFile = join(scratch.home, 'service', 'state.json');
  await scratch.run(['me']);
  const { pid } = readStateFile(stateFile) ?? assert.fail('no service runs');
  const onOutput = hangUntil(pid, 'before', 'kill -9', () => void openGate(join(scratch.home, 'service')));
  const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--watch'], { onOutput });
  assert.deepEqual([done.exit, done.stdout], [0, 'before\nafter\n'], done.stderr);
  const remedy = `If this continues, stop it:  kill -9 ${pid}  Its jobs continue, and the next command starts it again\\.`;
  assert.match(done.stderr, new RegExp(`service on this machine does not respond\\..*${remedy}.*responds again`, 's'));

  process.kill(pid, 'SIGSTOP');
  const asked = await scratch.run(['me']);
  process.kill(pid, 'SIGKILL');
  assert.equal(asked.exit, 5, asked.stderr);
  assert.match(asked.stderr, new RegExp(`on this machine runs but does not respond\\. ${remedy}`));
  assert.equal((await scratch.run(['me'])).exit, 0);
});
