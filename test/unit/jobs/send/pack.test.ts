import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { processOwner } from '../../../../src/core/processes/processOwner.ts';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { resubmitJob } from '../../../../src/jobs/send/resubmit.ts';
import { EventSpool } from '../../../../src/jobs/log/spool.ts';
import { planSubmit, type SubmitPlan } from '../../../../src/jobs/plan/plan.ts';
import { type SendPlanDeps, sendPlan } from '../../../../src/jobs/send/pack.ts';
import type { SubmitPhase } from '../../../../src/jobs/send/send.ts';
import { makeRecord, tempHome } from '../fixtures.ts';
import { connectTo } from '../testClient.ts';
import { type Answers, sendJson, TestService } from '../testService.ts';

interface Setting {
  readonly deps: SendPlanDeps;
  readonly jobs: JobLedger;
  readonly http: TestService;
  readonly home: string;
  readonly folder: string;
  readonly request: SubmitPlan;
}

async function setUp(t: TestContext, answers: Answers, extraBytes = 0): Promise<Setting> {
  const [home, folder] = [tempHome(t), tempHome(t)];
  writeFileSync(join(folder, 'train.py'), 'print("hello")\n');
  if (extraBytes > 0) writeFileSync(join(folder, 'data.bin'), randomBytes(extraBytes));
  const http = await TestService.start(t, answers);
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const selections = new Selections();
  const deps = { service: connectTo(http.url), selections, ledger: directLedger(jobs), home };
  const selection = await selections.select(folder, { isTrusted: false });
  const draft = { script: 'train.py --epochs 3', maxRuntime: 60.9, include: [], exclude: [] };
  const request = planSubmit({ host: http.url, service: 'test', account: undefined }, draft, selection);
  return { deps, jobs, http, home, folder, request };
}

/** Sends a plan of a folder that is not trusted. */
const submit = (deps: SendPlanDeps, plan: SubmitPlan, options: Partial<Parameters<typeof sendPlan>[2]> = {}) =>
  sendPlan(deps, plan, { isTrusted: false, ...options });

async function readAll(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray());
}

const accept: Answers['submit'] = async (request, response, attempt) => {
  await readAll(request);
  sendJson(response, { job_id: `job-${attempt}`, credit_hold: 0.1, credits_remaining: 99.9 });
};

test('a folder is packed from the archive that was last sent from it, unless all files are to be read again', async (t) => {
  const setting = await setUp(t, { submit: accept });
  const used: (string | undefined)[] = [];
  const { selections } = setting.deps;
  const deps: SendPlanDeps = {
    ...setting.deps,
    selections: {
      checkScript: (...args) => selections.checkScript(...args),
      pack: (id, dest, options) => {
        used.push(options.earlier?.archive);
        return selections.pack(id, dest, options);
      },
    },
  };
  const first = await submit(deps, setting.request);
  const second = await submit(deps, setting.request);
  const third = await submit(deps, setting.request, { rehash: true });
  await submit(deps, setting.request);
  assert.deepEqual(used, [undefined, first.archive, undefined, third.archive]);
  const [one, other] = [first, second].map(({ archive }) => readFileSync(archive ?? ''));
  assert.deepEqual(other, one);
});

test('an archive that refers to an earlier one is sent whole, and the copy that was sent is removed', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
  const bodies: Buffer[] = [];
  const setting = await setUp(
    t,
    {
      submit: async (request, response) => {
        const body = await readAll(request);
        // It takes contents no longer.
        if (request.url !== '/v1/jobs') return sendJson(response, { detail: 'none' }, 404);
        bodies.push(body);
        if (bodies.length === 3) return sendJson(response, { detail: 'no' }, 402);
        sendJson(response, { job_id: `job-${bodies.length}` });
      },
    },
    3_000_000,
  );
  const { folder, home, request, deps } = setting;
  await submit(deps, { ...request, usesContents: true });
  writeFileSync(join(folder, 'train.py'), 'print("again")\n');
  const selection = await (deps.selections as Selections).select(folder, { isTrusted: false });
  const again = { ...request, selection, usesContents: true };
  const second = await submit(deps, again);
  assert.ok(statSync(second.archive ?? '').isDirectory(), 'it refers to the first');
  const body = bodies[1] ?? assert.fail();
  const start = body.indexOf('\r\n\r\n', body.indexOf('name="tarball"')) + 4;
  const unpacked = gunzipSync(body.subarray(start, body.lastIndexOf('\r\n--')));
  assert.ok(unpacked.includes('print("again")') && unpacked.includes(readFileSync(join(folder, 'data.bin'))));
  const partial = (): string[] => readdirSync(join(home, 'archives')).filter((name) => name.endsWith('.partial'));
  assert.deepEqual(partial(), []);
  await assert.rejects(submit(deps, again), { status: 402 });
  assert.deepEqual(partial(), []);
  const stop = new AbortController();
  const onPhase = ({ type }: { readonly type: string }): void =>
    void (type === 'pack' && stop.abort(new Error('enough')));
  await assert.rejects(submit(deps, again, { signal: stop.signal, onPhase }), /^Error: enough$/);
  assert.equal(bodies.length, 3);
});

test('an accepted job is on record with its archive, manifest, phases and hold', async (t) => {
  let body = '';
  const setting = await setUp(t, {
    submit: async (request, response) => {
      body = (await readAll(request)).toString('latin1');
      sendJson(response, { job_id: 'job-1', credit_hold: 0.1, credits_remaining: 99.9 });
    },
  });
  const phases: string[] = [];
  const record = await submit(
    setting.deps,
    { ...setting.request, draft: { ...setting.request.draft, machineClass: 'a10g' }, accountId: 'acc' },
    { onPhase: ({ type }) => phases.at(-1) === type || phases.push(type) },
  );
  assert.match(body, /"script":"train\.py --epochs 3"/);
  assert.match(body, /"max_runtime":60\b/);
  assert.deepEqual([phases[0], phases.at(-1)], ['select', 'accepted']);
  assert.deepEqual([record.state, record.jobId, record.creditHold, record.maxRuntime], ['queued', 'job-1', 0.1, 60]);
  assert.deepEqual(setting.jobs.get(record.id), record);
  assert.ok(record.archive !== null && existsSync(record.archive));
  const manifest = JSON.parse(readFileSync(join(setting.home, 'archives', `${record.id}.manifest.json`), 'utf8')) as {
    path: string;
  }[];
  assert.deepEqual(
    manifest.map(({ path }) => path),
    ['train.py'],
  );
  const texts = (await Array.fromAsync(new EventSpool(setting.home, record.id).read())).map(
    ({ data }) => (data as { text: string }).text,
  );
  assert.match(texts[0] ?? '', /^packed .* in /);
  assert.match(texts[1] ?? '', /^uploaded .* in /);
});

test('contents are sent before the archive to services that take them, and to no others', async (t) => {
  const paths: (string | undefined)[] = [];
  const answers: Answers = {
    submit: async (request, response) => {
      await readAll(request);
      paths.push(request.url);
      if (request.url === '/v1/jobs') sendJson(response, { job_id: `job-${paths.length}` });
      else sendJson(response, { detail: 'not found' }, 404);
    },
  };
  const setting = await setUp(t, answers, 100_000);
  await submit(setting.deps, setting.request);
  assert.deepEqual(paths.splice(0), ['/v1/jobs']);
  await submit(setting.deps, { ...setting.request, usesContents: true });
  assert.deepEqual(paths, ['/v1/contents/lacking-lists', '/v1/jobs']);
});

test('a submit says once why everything is sent, keeps it in the log of the job, and counts what was sent for nothing', async (t) => {
  const answers: Answers = {
    submit: async (request, response) => {
      await readAll(request);
      if (request.url === '/v1/jobs') sendJson(response, { job_id: 'job-1' });
      else if (request.url === '/v1/contents/pieces') sendJson(response, { detail: 'the space is full.' }, 413);
      else response.end(); // it has nothing
    },
  };
  const setting = await setUp(t, answers, 100_000);
  const phases: SubmitPhase[] = [];
  const options = { onPhase: (phase: SubmitPhase) => void phases.push(phase) };
  const record = await submit(setting.deps, { ...setting.request, usesContents: true }, options);
  assert.equal(record.jobId, 'job-1');
  const reason =
    'The service did not accept only what changed (HTTP 413: the space is full), so the whole archive is sent.';
  assert.deepEqual(
    phases.filter(({ type }) => type === 'whole'),
    [{ type: 'whole', reason }],
  );
  const uploads = phases.filter((phase) => phase.type === 'upload');
  assert.ok((uploads.at(-1)?.sentBytes ?? 0) > (record.archiveBytes ?? 0));
  assert.ok(readFileSync(new EventSpool(setting.home, record.id).path, 'utf8').includes(reason));
});

for (const status of [400, 401, 402, 413, 503]) {
  test(`a refusal (${status}) passes through and leaves nothing`, async (t) => {
    const setting = await setUp(t, {
      submit: async (request, response) => {
        await readAll(request);
        sendJson(response, { detail: 'no' }, status);
      },
    });
    await assert.rejects(submit(setting.deps, setting.request), { status });
    assert.deepEqual(setting.jobs.list({ withRemoved: true }), []);
    assert.deepEqual(readdirSync(join(setting.home, 'archives')), []);
    assert.equal(setting.http.attempts.submit, 1);
  });
}

test('a service that is not there: the system error passes through and nothing is left', async (t) => {
  const setting = await setUp(t, {});
  setting.http.stop();
  await assert.rejects(submit(setting.deps, setting.request), { code: 'ECONNREFUSED' });
  assert.deepEqual(setting.jobs.list({ withRemoved: true }), []);
  assert.deepEqual(readdirSync(join(setting.home, 'archives')), []);
});

test('a connection lost after the upload is reported as unknown, stored and not repeated', async (t) => {
  const setting = await setUp(t, {
    submit: async (request) => {
      await readAll(request);
      request.socket.destroy();
    },
  });
  await assert.rejects(submit(setting.deps, setting.request), {
    code: 'outcome-unknown',
    message: /may be running.*Check with the service before you send it again/,
  });
  const [record] = setting.jobs.list();
  assert.equal(record?.state, 'unknown');
  assert.equal(record?.jobId, null);
  assert.match(record?.reason ?? '', /Check with the service/);
  assert.ok(existsSync(record?.archive ?? ''));
  assert.equal(setting.http.attempts.submit, 1);
});

test('the connection is lost in the middle of the upload: unknown, and how much had left is said', async (t) => {
  const setting = await setUp(
    t,
    {
      submit: (request) => {
        let received = 0;
        request.on('error', () => {});
        request.on('data', (chunk: Buffer) => {
          received += chunk.length;
          if (received > 100_000) request.socket.resetAndDestroy();
        });
      },
    },
    20_000_000,
  );
  await assert.rejects(submit(setting.deps, setting.request), {
    code: 'outcome-unknown',
    message: /\d+ % of the files were sent, so the job most likely does not exist/,
  });
  assert.equal(setting.jobs.list()[0]?.state, 'unknown');
});

for (const [name, status, text] of [
  ['a gateway error', 502, 'bad gateway'],
  ['an answer without a job id', 200, '{}'],
  ['an answer that is no JSON', 200, '<html>'],
] as const) {
  test(`${name} after the upload leaves the outcome unknown`, async (t) => {
    const setting = await setUp(t, {
      submit: async (request, response) => {
        await readAll(request);
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      },
    });
    const phases = new Set<string>();
    const onPhase = ({ type }: SubmitPhase): void => void phases.add(type);
    const submitting = submit(setting.deps, setting.request, { onPhase });
    await assert.rejects(submitting, { code: 'outcome-unknown' });
    assert.equal(setting.jobs.list()[0]?.state, 'unknown');
    assert.equal([...phases].at(-1), 'ask', 'the service was asked what became of it');
  });
}

test('a script that is not there stops everything before anything is packed or sent', async (t) => {
  const setting = await setUp(t, { submit: accept });
  await assert.rejects(submit(setting.deps, { ...setting.request, script: 'trian.py' }), {
    code: 'missing',
    message: /Did you mean train\.py\?/,
  });
  for (const maxRuntime of [Number.NaN, Infinity, 0, 0.99]) {
    await assert.rejects(
      submit(setting.deps, { ...setting.request, draft: { ...setting.request.draft, maxRuntime } }),
      {
        code: 'bad-input',
        message: 'The time limit must be at least 1 second.',
      },
    );
  }
  assert.equal(setting.http.attempts.submit, 0);
  assert.equal(existsSync(join(setting.home, 'archives')), false);
  const shortest = { ...setting.request, draft: { ...setting.request.draft, maxRuntime: 1 } };
  assert.equal((await submit(setting.deps, shortest)).maxRuntime, 1);
});

for (const phase of ['select', 'pack', 'upload'] as const) {
  test(`a cancel during ${phase} leaves nothing`, async (t) => {
    const setting = await setUp(t, { submit: (request) => void request.pause() }, 20_000_000);
    const stop = new AbortController();
    let left = Infinity;
    const submitting = submit(setting.deps, setting.request, {
      signal: stop.signal,
      onPhase: (now) => {
        if (now.type === phase) stop.abort();
        if (now.type === 'pack') left = now.totalBytes - now.doneBytes;
      },
    });
    await assert.rejects(submitting, { name: 'AbortError' });
    if (phase === 'pack') assert.ok(left > 0, 'the rest is not packed first');
    assert.deepEqual(setting.jobs.list({ withRemoved: true }), []);
    assert.deepEqual(readdirSync(join(setting.home, 'archives')), []);
  });
}

test('a cancel after all was sent leaves the outcome unknown', async (t) => {
  const stop = new AbortController();
  const setting = await setUp(t, {
    submit: async (request) => {
      await readAll(request);
      stop.abort();
    },
  });
  await assert.rejects(submit(setting.deps, setting.request, { signal: stop.signal }), {
    code: 'outcome-unknown',
  });
  assert.equal(setting.jobs.list()[0]?.state, 'unknown');
});

test('two windows submit one folder at once: two jobs, both on record', async (t) => {
  const setting = await setUp(t, { submit: accept });
  const other = new JobLedger(setting.home);
  t.after(() => other.dispose());
  const records = await Promise.all([
    submit(setting.deps, setting.request),
    submit({ ...setting.deps, ledger: directLedger(other) }, setting.request),
  ]);
  assert.equal(new Set(records.map(({ jobId }) => jobId)).size, 2);
  assert.equal(setting.jobs.list().length, 2);
});

test('a job is sent again from its kept archive, as it was', async (t) => {
  const bodies: Buffer[] = [];
  const setting = await setUp(t, {
    submit: async (request, response, attempt) => {
      bodies.push(await readAll(request));
      sendJson(response, { job_id: `job-${attempt}` });
    },
  });
  const first = await submit(setting.deps, setting.request);
  writeFileSync(join(setting.folder, 'train.py'), 'changed since');
  const second = await resubmitJob(setting.deps, first.id);
  assert.notEqual(second.id, first.id);
  assert.equal(second.jobId, 'job-2');
  assert.equal(second.script, first.script);
  const gzipOf = (body: Buffer | undefined): Buffer | undefined =>
    body?.subarray(body.indexOf('\u001f\u008b', 0, 'latin1'), -200);
  assert.equal(bodies[0]?.length, bodies[1]?.length);
  assert.deepEqual(gzipOf(bodies[1])?.subarray(0, 200), gzipOf(bodies[0])?.subarray(0, 200));
});

test('of a job that is sent again, files are left only if the service may have taken it', async (t) => {
  let answer: 'accept' | 'refuse' | 'lose' = 'accept';
  const setting = await setUp(t, {
    submit: async (request, response) => {
      await readAll(request);
      if (answer === 'lose') request.socket.destroy();
      else if (answer === 'refuse') sendJson(response, { detail: 'no' }, 400);
      else sendJson(response, { job_id: 'job-1' });
    },
  });
  const { id } = await submit(setting.deps, setting.request);
  const stored = (): number => readdirSync(join(setting.home, 'archives')).length;
  const before = stored();
  answer = 'refuse';
  await assert.rejects(resubmitJob(setting.deps, id), { status: 400 });
  assert.equal(stored(), before);
  answer = 'lose';
  await assert.rejects(resubmitJob(setting.deps, id), { code: 'outcome-unknown' });
  assert.ok(stored() > before);
});

test('a job that was removed from the list is sent again as one that is in it, and one that never was is not sent', async (t) => {
  const setting = await setUp(t, {
    submit: async (request, response, attempt) => {
      await readAll(request);
      sendJson(response, { job_id: `job-${attempt}` });
    },
  });
  const first = await submit(setting.deps, setting.request);
  await setting.deps.ledger.update(first.id, { removed: true, lastLogLine: 'epoch 3', exitCode: 1 });
  const second = await resubmitJob(setting.deps, first.id);
  assert.deepEqual([second.removed, second.lastLogLine, second.exitCode], [false, null, null]);
  await assert.rejects(resubmitJob(setting.deps, 'none'), { code: 'missing', message: /no longer in the list/ });
});

test('kept archives stay within their limit, the oldest go first, and what is gone is said', async (t) => {
  const setting = await setUp(t, { submit: accept }, 50_000);
  const first = await submit(setting.deps, setting.request);
  utimesSync(first.archive ?? '', new Date(0), new Date(0));
  const second = await submit(setting.deps, setting.request, { maxKeptBytes: 60_000 });
  assert.equal(existsSync(first.archive ?? ''), false);
  assert.equal(existsSync(second.archive ?? ''), true);
  await assert.rejects(resubmitJob(setting.deps, first.id), { code: 'missing', message: /no longer stored/ });
  assert.equal(setting.jobs.list().length, 2);
});

test('the archive of a job that is still being sent stays, also if the job was removed from the list', async (t) => {
  const setting = await setUp(t, { submit: accept });
  const accepted = await submit(setting.deps, setting.request);
  const sending = makeRecord({ state: 'sending', jobId: null });
  setting.jobs.insert(sending);
  setting.jobs.claim(sending.id, processOwner(), 60_000);
  setting.jobs.remove(sending.id);
  const archive = new ArchiveStore(setting.home).archivePath(sending.id);
  writeFileSync(archive, 'being sent');
  await submit(setting.deps, setting.request, { maxKeptBytes: 0 });
  assert.deepEqual([existsSync(archive), existsSync(accepted.archive ?? '')], [true, false]);
});

test('what a killed submit was packing is removed by the next one, and what others are packing stays', async (t) => {
  const setting = await setUp(t, { submit: accept });
  const archives = join(setting.home, 'archives');
  const module = join(import.meta.dirname, '../../../../src/jobs/archives/archives.ts');
  const program = `
    import { openSync, writeFileSync } from 'node:fs';
    import { ArchiveStore } from ${JSON.stringify(module)};
    import { packSelection } from ${JSON.stringify(join(import.meta.dirname, '../../../../src/workspace/pack/pack.ts'))};
    const [home, folder] = process.argv.slice(1);
    const store = new ArchiveStore(home);
    await store.prepare();
    const id = '0f1fa587-aa7c-45a2-b99d-fc759b9c995f';
    writeFileSync(store.partPath(id), 'packed');
    writeFileSync(store.manifestPath(id), '[]');
    const file = { path: 'train.py', size: 15, mode: 0o644 };
    const onProgress = () => process.kill(process.pid, 'SIGKILL');
    await packSelection({ root: folder, files: [file], totalBytes: 15 }, store.partPath('other'), { onProgress });
  `;
  const argv = ['--input-type=module', '-e', program, setting.home, setting.folder];
  assert.throws(() => execFileSync(process.execPath, argv, { stdio: 'pipe' }), { signal: 'SIGKILL' });
  assert.equal(readdirSync(archives).length, 3);
  const mine = new ArchiveStore(setting.home).partPath('9d1f1a0e-6f0c-4f8e-9a53-0f5d7a3c1b20');
  writeFileSync(mine, 'another window is packing');

  const { id } = await submit(setting.deps, setting.request);
  assert.deepEqual(
    readdirSync(archives)
      .filter((name) => !name.endsWith('.latest'))
      .toSorted(),
    [basename(mine), `${id}.manifest.json`, `${id}.segments.json`, `${id}.tar.gz`].toSorted(),
  );
});

test('what a killed submit was writing about an archive is removed after a day, and nothing else', async (t) => {
  const store = new ArchiveStore(tempHome(t));
  await store.prepare();
  const { manifest, segments } = await store.packedFiles('job');
  const [old, recent] = ['1', '2'].map((number) => `${segments}.${number}.tmp`) as [string, string];
  for (const path of [manifest, segments, old, recent]) writeFileSync(path, '[]');
  for (const path of [manifest, segments, old]) utimesSync(path, 1e9, 1e9);
  await store.prepare();
  assert.deepEqual(
    [manifest, segments, old, recent].map((path) => existsSync(path)),
    [true, true, false, true],
  );
});

test('the commit is recorded for a trusted folder, and git is not asked in another', async (t) => {
  const setting = await setUp(t, { submit: accept });
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: setting.folder,
      encoding: 'utf8',
    });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  const commit = git('rev-parse', 'HEAD').trim();
  const clean = await submit(setting.deps, setting.request, { isTrusted: true });
  assert.deepEqual([clean.gitCommit, clean.gitChanges], [commit, 0]);
  const [tracked = ''] = git('ls-files').split('\n');
  writeFileSync(join(setting.folder, tracked), 'changed');
  writeFileSync(join(setting.folder, 'untracked.txt'), 'new');
  assert.equal((await submit(setting.deps, setting.request, { isTrusted: true })).gitChanges, 2);
  assert.equal((await submit(setting.deps, setting.request)).gitCommit, null);
});

test('where the home folder cannot be written the submit fails before anything is sent', async (t) => {
  const setting = await setUp(t, { submit: accept });
  writeFileSync(join(setting.home, 'archives'), 'in the way');
  await assert.rejects(submit(setting.deps, setting.request));
  assert.equal(setting.http.attempts.submit, 0);
  mkdirSync(join(setting.home, 'spool'), { recursive: true });
  assert.deepEqual(setting.jobs.list({ withRemoved: true }), []);
});
