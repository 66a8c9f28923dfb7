import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { JobLedger } from '../../src/jobs/ledger/ledger.ts';
import type { JobPatch } from '../../src/jobs/ledger/record.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { FaultyProxy } from './support/faultyProxy.ts';

/** What a program leaves that ended between the upload and its answer. */
const UNANSWERED = { jobId: null, state: 'unknown', creditHold: null, reason: 'The connection was lost.' };

async function submitOnce(scratch: Scratch) {
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'run.sh': 'echo ran' });
  const submit = (...flags: string[]) => scratch.run(['submit', folder, '--script', 'run.sh', ...flags], { env });
  const sent = await submit();
  assert.equal(sent.exit, 0, sent.stderr);
  return { env, submit, jobId: sent.stdout.trim() };
}

/** Changes the record of the one job in the ledger, as its id or another one. */
function rewrite(scratch: Scratch, patch: JobPatch, id?: string): string {
  const ledger = new JobLedger(scratch.home);
  try {
    const [record] = ledger.list();
    assert.ok(record);
    if (id === undefined) return ledger.update(record.id, patch).id;
    ledger.delete(record.id);
    ledger.insert({ ...record, ...patch, id });
    return id;
  } finally {
    ledger.dispose();
  }
}

async function startProxy(t: TestContext, url: string): Promise<FaultyProxy> {
  return FaultyProxy.start(t, () => url, [{ type: 'truncate', side: 'response', after: 0, isPost: true }]);
}

test('a submit whose answer is lost asks for it, and is one job', async (t) => {
  await using scratch = await Scratch.create();
  const { env, url } = await scratch.serve(['--behind-proxy']);
  const proxy = await startProxy(t, url);
  const folder = await scratch.folder('project', { 'run.sh': 'echo ran' });
  const through = { ...env, FARWHARF_REMOTE_HOST: proxy.url };
  const done = await scratch.run(['submit', folder, '--script', 'run.sh', '--watch'], { env: through });
  assert.deepEqual([done.exit, done.stdout], [0, 'ran\n'], done.stderr);
  assert.match(done.stderr, /connection to the service was lost; checking what arrived/);
  const { jobs } = (await (
    await fetch(`${url}/v1/jobs`, { headers: { authorization: `Bearer ${env['FARWHARF_API_KEY']}` } })
  ).json()) as { jobs: object[] };
  assert.equal(jobs.length, 1);
});

test('a submit of a program that was killed is settled by the next one, which sends nothing unasked', async () => {
  await using scratch = await Scratch.create();
  const { env, submit, jobId } = await submitOnce(scratch);
  rewrite(scratch, UNANSWERED);
  const held = await submit('--json');
  assert.equal(held.exit, 1, held.stderr);
  const { error } = jsonLines(held.stdout)[0] as { error: { code: string; message: string } };
  assert.equal(error.code, 'conflict');
  assert.match(error.message, new RegExp(`accepted it as job ${jobId}\\. Nothing was sent now`));
  const listed = await scratch.run(['jobs', '--json'], { env });
  const { jobs } = jsonLines(listed.stdout)[0] as { jobs: { job_id: string }[] };
  assert.deepEqual(
    jobs.map((job) => job.job_id),
    [jobId],
  );
});

test('a job that the service no longer has is lost, and hides the state of no other job', async () => {
  await using scratch = await Scratch.create();
  const { env, submit } = await submitOnce(scratch);
  rewrite(scratch, { jobId: 'gone-with-its-service', state: 'running' });
  const running = await submit();
  assert.equal((await scratch.run(['watch', running.stdout.trim()], { env })).exit, 0);
  rewrite(scratch, { state: 'running', exitCode: null, finishedAt: null });
  const listed = await scratch.run(['jobs'], { env });
  assert.match(listed.stdout, /^lost .*gone-with-its-service$/m);
  assert.match(listed.stdout, new RegExp(`^succeeded .*${running.stdout.trim()}$`, 'm'));
  assert.equal(listed.stderr, '');
});

test('a job whose answer was lost can be watched by the start of our id', async () => {
  await using scratch = await Scratch.create();
  const { env, jobId } = await submitOnce(scratch);
  const id = rewrite(scratch, UNANSWERED);
  const watched = await scratch.run(['watch', id.slice(0, 8)], { env });
  assert.deepEqual([watched.exit, watched.stdout], [0, 'ran\n'], watched.stderr);
  assert.match((await scratch.run(['jobs'], { env })).stdout, new RegExp(`succeeded .*${jobId}`));
});

test('a submit that did not arrive is reported, and the folder is sent again without a question', async () => {
  await using scratch = await Scratch.create();
  const { env, submit } = await submitOnce(scratch);
  rewrite(scratch, UNANSWERED, randomUUID());
  const again = await submit();
  assert.equal(again.exit, 0, again.stderr);
  assert.match(again.stderr, /The submit of run\.sh at .* did not reach 127\.0\.0\.1:\d+: no job exists/);
  assert.match((await scratch.run(['jobs'], { env })).stdout, /^failed +run\.sh/m);
});
