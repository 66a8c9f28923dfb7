import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { jobsAtOnce, startService } from './support/service.ts';

test('an operator imports, pays, limits, stops and deletes accounts, and replaces a key, each with one command', async (t) => {
  await using scratch = await Scratch.create();
  const service = await startService(t, { config: jobsAtOnce(1) });
  const run = (...args: string[]) => scratch.run(['admin', ...args, '--data', service.data]);
  const done = async (...args: string[]) => {
    const ran = await run(...args);
    assert.equal(ran.exit, 0, ran.stderr);
    return ran;
  };

  const file = join(await scratch.folder('import', {}), 'course.csv');
  await writeFile(file, 'account,name,credits\nben,Ben B.,5\n\ncyd,Cyd C.,\nBAD,No,1\n');
  const imported = await run('account', 'import', file);
  assert.deepEqual([imported.exit, imported.stdout], [1, '2 accounts added.\n']);
  assert.match(imported.stderr, /BAD: "BAD" cannot be the ID of an account/);
  await writeFile(file, 'name\nBen\n');
  assert.match((await run('account', 'import', file)).stderr, /first line must name the columns: account/);
  assert.match((await run('account', 'import', '/dev/zero')).stderr, /\/dev\/zero is a device, not a file/);

  assert.match(
    (await done('credits', 'grant-all', '7')).stdout,
    /^7 credits were granted to 2 accounts for "month-\d{4}-\d\d"\.$/m,
  );
  assert.match((await done('credits', 'grant-all', '7')).stdout, /^7 credits were granted to 0 accounts/);
  using admin = await openAdmin(service.data, { mayCreate: false });
  assert.equal((await admin.call('accounts.show', { account_id: 'ben' })).credits_available, 12);

  const { client: ada, keyId } = await addAccount(service, 'ada');
  assert.match((await done('account', 'limits', 'ada', '--run-time', '1h')).stdout, /time limit of a job 1 h/);
  const refused = await ada.send({ 'a.sh': 'true' }, { script: 'a.sh', max_runtime: 3_601 });
  assert.equal(refused.status, 400);
  assert.match(
    ((await refused.json()) as { detail: string }).detail,
    /must be at most 3600 seconds .*, the limit of this account/,
  );
  assert.equal((await ada.json<{ limits: { max_runtime: number } }>('/v1/me')).limits.max_runtime, 3_600);

  const running = await ada.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  await ada.untilRunning(running);
  const waiting = await ada.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  assert.match(
    (await run('account', 'delete', 'ada')).stderr,
    /1 waiting and 1 running\. Cancel them first: {2}farwharf admin cancel --account ada/,
  );
  assert.match((await run('cancel')).stderr, /Specify the jobs, or all jobs of an account/);
  const [cancelled = {}] = jsonLines((await done('cancel', '--account', 'ada', '--reason', 'over', '--json')).stdout);
  assert.deepEqual(
    new Set((cancelled['jobs'] as { job_id: string }[]).map(({ job_id: id }) => id)),
    new Set([running, waiting]),
  );
  for (const id of [running, waiting]) assert.match((await ada.untilEnd(id)).reason ?? '', /cancelled the job: over\./);

  const key = (await done('key', 'rotate', keyId)).stdout.trim();
  assert.equal((await ada.request('/v1/me')).status, 401);
  assert.equal((await service.withKey(key).request('/v1/me')).status, 200);
  assert.match((await run('key', 'rotate', keyId)).stderr, /not valid any more/);
  await done('account', 'delete', 'ada');
  assert.equal((await service.withKey(key).request('/v1/me')).status, 401);
  assert.equal((await admin.call('accounts.show', { account_id: 'ada' })).name, 'deleted');
  assert.ok((await admin.call('keys.list', { account_id: 'ada' })).keys.every(({ state }) => state === 'revoked'));
});
