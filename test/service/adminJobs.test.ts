import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { jsonLines, Scratch, until } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const UNISOLATED = { config: testConfig({ isolation: 'none' }) };
/** Moves the cursor, clears the screen, sets the title, hides text, changes colours and direction. Line breaks and NUL are refused. */
const HOSTILE = 'x\u001b[2J\u001b[1;1H\u001b]0;pwned\u0007\u001b[8m \u0085STATE \u202efake\u009b31m';

test('an operator sees the jobs of all accounts, filtered, and all of one job', async (t) => {
  await using scratch = await Scratch.create();
  const service = await startService(t, UNISOLATED);
  const [ada, eve] = [await addAccount(service, 'ada'), await addAccount(service, 'eve')];
  const first = await ada.client.submit({ 'a.sh': 'echo hi' }, { script: 'a.sh', project: 'thesis' });
  await ada.client.untilEnd(first);
  const second = await eve.client.submit({ 'b.sh': 'sleep 600' }, { script: 'b.sh', project: HOSTILE });
  await eve.client.untilRunning(second);
  const admin = (...args: string[]) => scratch.run(['admin', ...args, '--data', service.data]);

  const list = await admin('jobs');
  const lines = list.stdout.split('\n');
  assert.match(lines[0] ?? '', /^ID +ACCOUNT +STATE +SCRIPT +PROJECT +MACHINE +TIME +CREDITS +SENT$/, list.stderr);
  assert.match(lines[1] ?? '', new RegExp(`^${second} +eve +running +b\\.sh +x`));
  assert.match(lines[2] ?? '', new RegExp(`^${first} +ada +succeeded +a\\.sh +thesis +local +\\d`));
  assert.equal(lines.length, 4, 'a job can add a line');
  const idsOf = async (...flags: string[]): Promise<string[]> => {
    const [page = {}] = jsonLines((await admin('jobs', '--json', ...flags)).stdout);
    return (page['jobs'] as { job_id: string }[]).map(({ job_id: id }) => id);
  };
  assert.deepEqual(await idsOf('--account', 'ada', '--state', 'succeeded', '--machine-class', 'local'), [first]);
  assert.deepEqual(await idsOf('--project', 'thesis', '--since', '1h'), [first]);
  assert.deepEqual(await idsOf('--since', '2999-01-01'), []);
  const page = await admin('jobs', '--limit', '1');
  assert.match(page.stderr, new RegExp(`There are more\\. Add: {2}--before ${second}`));
  assert.deepEqual(await idsOf('--before', second), [first]);

  const shown = await admin('job', second);
  for (const line of [/^account +eve \(eve\)$/m, /^state +running$/m, /^credits +1 held$/m, /^runner +process \d+$/m])
    assert.match(shown.stdout, line);
  for (const { stdout } of [list, shown]) {
    // oxlint-disable-next-line no-control-regex -- what a terminal must not receive
    assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]|pwned/);
  }
  const [ended] = jsonLines((await admin('job', first, '--json')).stdout);
  assert.deepEqual(
    ['account_id', 'state', 'exit_code', 'executor_id', 'runner_pid', 'credit_hold'].map((name) => ended?.[name]),
    ['ada', 'succeeded', 0, null, null, 1],
  );

  for (const [args, says] of [
    [['job', 'no-such-job'], /Job "no-such-job" does not exist/],
    [['job', '../../etc/passwd'], /does not exist/],
    [['jobs', '--before', 'no-such-job'], /does not exist/],
    [['jobs', '--account', 'bob'], /Account "bob" does not exist/],
    [['jobs', '--since', 'lately'], /Invalid value "lately" for --since/],
    [['jobs', '--limit', '1001'], /from 1 to 1000/],
  ] as const) {
    const refused = await admin(...args);
    assert.equal(refused.exit, 2, refused.stderr);
    assert.match(refused.stderr, says);
  }
});

test('12,000 jobs are listed page by page, each once, and the few of a project are found among them', async (t) => {
  const data = await temporaryFolder(t);
  (await openAdmin(data, { mayCreate: true }))[Symbol.dispose]();
  const database = new DatabaseSync(join(data, 'service.db'));
  database.exec(`
    WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 12000)
    INSERT INTO jobs (id, account, state, script, project, machine_class, max_runtime, created_at, finished_at, hold, charged)
    SELECT 'job-' || n, 'local', 'succeeded', 'a.sh', CASE n WHEN 1 THEN 'rare' WHEN 6000 THEN 'rare' END, 'local', 60, n, n, 0, 0
    FROM counter`);
  database.close();
  using admin = await openAdmin(data, { mayCreate: false });
  const seen: string[] = [];
  for (let before: string | undefined; ; ) {
    const { jobs, next } = await admin.call('jobs.list', { limit: 1_000, before });
    seen.push(...jobs.map(({ job_id: id }) => id));
    if (next === null) break;
    before = next;
  }
  assert.equal(new Set(seen).size, 12_000);
  assert.deepEqual([seen.length, seen[0], seen.at(-1)], [12_000, 'job-12000', 'job-1']);
  const { jobs, next } = await admin.call('jobs.list', { project: 'rare' });
  assert.deepEqual([jobs.map(({ job_id: id }) => id), next], [['job-6000', 'job-1'], null]);
  await assert.rejects(admin.call('jobs.list', { limit: 1_001 }), { code: 'bad-input' });
});

test('an operator cancels jobs of any account, whose owner reads why, and the audit trail has it', async (t) => {
  await using scratch = await Scratch.create();
  const service = await startService(t, { config: testConfig({ isolation: 'none', max_jobs: 1 }) });
  const { client } = await addAccount(service, 'ada');
  const [running, waiting] = [
    await client.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh' }),
    await client.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' }),
  ];
  await client.untilRunning(running);
  const admin = (...args: string[]) => scratch.run(['admin', ...args, '--data', service.data]);
  // The one that waits first: it would start as soon as the other has ended.
  const cancelled = await admin('cancel', waiting, 'no-such-job', running, '--reason', `maintenance ${HOSTILE}`);
  assert.equal(cancelled.exit, 2, 'one of them does not exist');
  assert.match(cancelled.stderr, /Job "no-such-job" does not exist/);
  assert.match(cancelled.stdout, new RegExp(`^Job ${waiting} of ada is cancelled\\.$`, 'm'));
  const [first, second] = [await client.untilEnd(running), await client.untilEnd(waiting)];
  assert.deepEqual([first.state, second.state, second.credits_charged], ['cancelled', 'cancelled', 0]);
  assert.match(first.reason ?? '', /^An operator of the service cancelled the job: maintenance x/);
  assert.match(second.reason ?? '', /^An operator .*\. The job was cancelled before it started\.$/);
  assert.match(await client.output(running), /begun/);
  const env = { FARWHARF_REMOTE_HOST: client.url, FARWHARF_API_KEY: client.key };
  const owner = await scratch.run(['job', running], { env });
  assert.match(owner.stdout, /An operator of the service cancelled the job: maintenance x STATE fake/);
  // oxlint-disable-next-line no-control-regex -- what a terminal must not receive
  assert.doesNotMatch(owner.stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]|pwned/);

  const again = await admin('cancel', running, '--json');
  const [{ jobs = [] } = {}] = jsonLines(again.stdout) as { jobs?: { state: string; reason: string }[] }[];
  assert.deepEqual([again.exit, jobs[0]?.state, jobs[0]?.reason], [0, 'cancelled', first.reason]);
  const entries = jsonLines((await admin('audit', '--verb', 'jobs.cancel', '--json')).stdout)[0]?.['entries'] as {
    job_id: string;
    account_id?: string;
    outcome: string;
    before: { state: string; cancel_reason: string | null } | null;
  }[];
  assert.deepEqual(
    entries
      .toReversed()
      .map(({ job_id: id, account_id: account, outcome, before }) => [
        id,
        account,
        outcome.split(':')[0],
        before?.state,
        typeof before?.cancel_reason,
      ]),
    [
      [waiting, 'ada', 'done', 'queued', 'object'],
      ['no-such-job', undefined, 'missing', undefined, 'undefined'],
      [running, 'ada', 'done', 'running', 'object'],
      [running, 'ada', 'done', 'cancelled', 'string'],
    ],
  );
  const ofJob = await admin('audit', '--job', waiting);
  assert.match(ofJob.stdout, new RegExp(`jobs\\.cancel +ada +${waiting} +done\\n$`));
});

test('while the service is stopped, a running job stops at once, and a waiting one never starts', async (t) => {
  const home = await temporaryFolder(t);
  const options = { config: testConfig({ max_jobs: 1 }) };
  const service = await ServiceProcess.start(home, options);
  t.after(() => service.end('SIGKILL'));
  const running = await service.client.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  const waiting = await service.client.submit({ 'a.sh': 'touch ../../../started' }, { script: 'a.sh' });
  await service.client.untilRunning(running);
  await service.end('SIGKILL');
  const { data } = service.client;
  {
    using admin = await openAdmin(data, { mayCreate: false });
    for (const id of [running, waiting]) {
      const { state } = await admin.call('jobs.cancel', { job_id: id, reason: 'Moving!' });
      assert.equal(state, id === running ? 'running' : 'queued');
    }
  }
  await until(() => existsSync(join(data, 'jobs', running, 'exit.json')));
  const next = await ServiceProcess.start(home, options);
  t.after(() => next.end('SIGKILL'));
  const [first, second] = [await next.client.untilEnd(running), await next.client.untilEnd(waiting)];
  assert.deepEqual([first.state, first.reason], ['cancelled', 'An operator of the service cancelled the job: Moving!']);
  assert.deepEqual([second.state, second.started_at, second.credits_charged], ['cancelled', null, 0]);
});
