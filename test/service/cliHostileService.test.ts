import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Finished, jsonLines, Scratch, startFake } from './commandLine.ts';

// What a terminal obeys or does not show, except the line feed.
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const CLIPBOARD = '\u001b]52;c;ZXZpbA==\u0007';
const LINK = '\u001b]8;;https://evil.example\u001b\\paid\u001b]8;;\u001b\\';
const HOSTILE = `a${CLIPBOARD}${LINK}\u009b2J\u202eb\u2028c\u200b\nforged  row\r\u0007\u009d52;c;eA==\u009c`;

function assertInert({ stdout, stderr }: Finished): void {
  assert.doesNotMatch(stdout + stderr, OBEYED);
  assert.doesNotMatch(stdout + stderr, /^forged/m);
}

test('service text reaches the terminal without escape sequences and cannot forge a line', async () => {
  await using scratch = await Scratch.create();
  const account = {
    account_id: HOSTILE,
    plan: HOSTILE,
    credits: 5,
    rate_card: [{ machine_class: `gpu${HOSTILE}`, credits_per_minute: 1, description: HOSTILE }],
  };
  const job = { job_id: 'job-1', state: `run${HOSTILE}`, reason: HOSTILE, script: HOSTILE, machine_class: HOSTILE };
  await using fake = await startFake((request, response) => {
    if (request.url === '/v1/me') response.end(JSON.stringify(account));
    else if (request.url === '/v1/jobs/job-1') response.end(JSON.stringify(job));
    else response.writeHead(400).end(JSON.stringify({ detail: HOSTILE }));
  });
  const { env } = fake;
  const me = await scratch.run(['me'], { env });
  assert.equal(me.exit, 0, me.stderr);
  assert.equal(me.stdout.split('\n').length, 5, me.stdout); // the balance, a blank line, the heading and one class
  assertInert(me);
  assertInert(await scratch.run(['job', 'job-1'], { env }));
  assertInert(await scratch.run(['cancel', 'job-2'], { env }));
});

test('JSON output has the exact service text, with control characters escaped', async () => {
  await using scratch = await Scratch.create();
  const account = { credits: 5, plan: HOSTILE };
  await using fake = await startFake((_request, response) => void response.end(JSON.stringify(account)));
  const done = await scratch.run(['me', '--json'], { env: fake.env });
  assert.deepEqual(jsonLines(done.stdout), [{ ...account, spent: [], used: [] }]);
  assert.doesNotMatch(done.stdout, OBEYED);
});

test('a folder name reaches the terminal as one line', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', {
    'run.sh': '',
    'pic\u202egpj.sh': 'x',
    'a\nforged  b\u001b]0;title\u0007.txt': 'x',
  });
  const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:9' };
  const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--dry-run'], { env });
  assert.match(done.stdout, /^picgpj\.sh$/m);
  assertInert(done);
});

test('a job whose ID looks like an option is named so that the command can be copied', async () => {
  await using scratch = await Scratch.create();
  await using fake = await startFake(({ url }, response) => {
    if (url?.endsWith('/events') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('event: end\nid: 1\ndata: {"state":"succeeded","exit_code":0}\n\n');
    } else response.end('{"job_id":"--help","state":"succeeded","exit_code":0}');
  });
  const { exit, stderr } = await scratch.run(['watch', '--', '--help'], fake);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /succeeded .* farwharf download -- --help$/m);
});

test('a service that holds more credits than were shown is named, with how to stop the job', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', { 'run.sh': '' });
  const account = { credits: 500, rate_card: [{ machine_class: 'cpu', credits_per_minute: 1 }] };
  const holds = [100, 2];
  await using fake = await startFake((request, response) => {
    request.resume().once('end', () => {
      if (request.url === '/v1/me') response.end(JSON.stringify(account));
      else response.writeHead(201).end(JSON.stringify({ job_id: `job-${holds.length}`, credit_hold: holds.shift() }));
    });
  });
  const args = ['submit', folder, '--script', 'run.sh', '--machine-class', 'cpu', '--max-runtime', '120'];
  const dear = await scratch.run(args, { env: fake.env });
  assert.equal(dear.exit, 0, dear.stderr);
  assert.match(
    dear.stderr,
    /\nThe service holds 100 credits for this job, more than the 2 that were shown\. Its prices may have changed\. Stop the job: {2}farwharf cancel job-2\n/,
  );
  const asShown = await scratch.run(args, { env: fake.env });
  assert.equal(asShown.exit, 0, asShown.stderr);
  assert.doesNotMatch(asShown.stderr, /The service holds/);
});
