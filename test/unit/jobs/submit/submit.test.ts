import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { startedCommand, type SubmitIntent } from '../../../../src/jobs/plan/draft.ts';
import { resubmitJob } from '../../../../src/jobs/send/resubmit.ts';
import { profileJob } from '../../../../src/jobs/profiles/profileJob.ts';
import type { FileChoice } from '../../../../src/jobs/selection/fileTree.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import {
  type Preflight,
  submitJobs,
  type SubmitFolder,
  type SubmitQuestions,
  submitStored,
  type SubmitRequest,
} from '../../../../src/jobs/submit/submit.ts';
import { tempHome } from '../fixtures.ts';
import { connectTo } from '../testClient.ts';
import { sendJson, TestService } from '../testService.ts';

type Profile = Parameters<typeof profileJob>[0]['profile'];

const FEATURES = ['environments'];
const ACCOUNT = { account_id: 'ada', credits: 100, features: FEATURES };
const profileOf = (profile: Profile) =>
  profileJob({ name: 'train', profile, start: 0, range: () => ({ start: 0, end: 0 }) });

/** A user who agrees to everything. */
const AGREEING: SubmitQuestions = {
  chooseProgram: async () => assert.fail('the program is known'),
  allowProfile: async () => true,
  confirm: async ({ plans }) => plans,
};

async function setUp(t: TestContext, files: Readonly<Record<string, string>>, account: object = ACCOUNT) {
  const [home, root] = [tempHome(t), tempHome(t)];
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  const bodies: string[] = [];
  const http = await TestService.start(t, {
    submit: async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString('latin1'));
      sendJson(response, { job_id: `job-${bodies.length}` });
    },
  });
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const selections = new Selections();
  const choices: FileChoice[] = [];
  const flow = {
    isDisposed: false,
    files: [{ path: '.farwharf/chat.mts.sh', size: 6, mode: 0o755, mtimeMs: 0, source: join(root, 'start.sh') }],
    scriptWith: (args: string) => `.farwharf/chat.mts.sh ${args}`.trim(),
    sentAs: '',
    async sent(id: string) {
      this.sentAs = id;
    },
    async [Symbol.asyncDispose]() {
      this.isDisposed = true;
    },
  };
  const folder: SubmitFolder = {
    select: (choice) => {
      choices.push(choice);
      return selections.select(root, { ...choice, isTrusted: false });
    },
    addFiles: ({ id }, added) => selections.addFiles(id, added),
    review: ({ id }, job) => selections.reviewJob(id, job),
    prepareFlow: async (_, script) => (script.startsWith('chat.mts') ? flow : undefined),
  };
  const service = {
    host: http.url,
    name: 'the service',
    isSwitch: false,
    deps: { service: connectTo(http.url), selections, ledger: directLedger(jobs), home },
    target: async () => ({ host: http.url, service: 'the service', account, environments: [] }),
    send: <T>(_: unknown, work: (options: object) => Promise<T>) => work({}),
  };
  const choice = { include: [], exclude: [] };
  const run = async (
    request: Partial<Pick<SubmitRequest, 'program' | 'job'>> & {
      readonly script?: string;
      readonly fixed?: SubmitIntent;
    },
    questions: Partial<SubmitQuestions> = {},
  ) =>
    submitJobs(
      {
        program: request.script === undefined ? undefined : { script: request.script },
        job: undefined,
        ...request,
        choice,
        selection: await selections.select(root, { isTrusted: false }),
        terms: (job, parameters) => ({ ...job?.terms({ env: {}, file: undefined, parameters }), ...request.fixed }),
        usual: { memory: { scripts: [] }, defaults: { maxRuntime: 600, machineClass: '', project: '' }, rates: [] },
        isTrusted: false,
      },
      folder,
      service,
      { ...AGREEING, ...questions },
    );
  const again = (id: string) => resubmitJob({ ...service.deps }, id);
  return { run, bodies, choices, flow, root, again, service };
}

test('the `#SBATCH` lines of a script count however it was named, and lose against what the caller fixes', async (t) => {
  const { run, bodies } = await setUp(t, { 'job.sh': '#!/bin/sh\n#SBATCH --time=5 -A vision\necho\n' });
  const sent = await run({ script: 'job.sh 1' });
  assert.equal(sent?.type === 'job' && sent.record.maxRuntime, 300);
  assert.match(bodies[0] ?? '', /"project":"vision"/);
  const chosen = await run({ fixed: { maxRuntime: 60 } }, { chooseProgram: async () => ({ script: 'job.sh' }) });
  assert.equal(chosen?.type === 'job' && chosen.record.maxRuntime, 60);
});

test('packages that cannot be installed refuse a sweep as they do a single job', async (t) => {
  const { run, bodies } = await setUp(t, { 'train.py': '' });
  const profile = { script: 'train.py ${matrix:lr}', requirements: 'missing.txt' };
  const refusal = { code: 'bad-input', message: /packages of the job cannot be installed.* Nothing was sent\.$/ };
  await assert.rejects(run({ job: profileOf({ ...profile, matrix: { lr: [1, 2] } }), script: 'train.py' }), refusal);
  await assert.rejects(run({ job: profileOf({ ...profile, matrix: { lr: [1] } }), script: 'train.py 1' }), refusal);
  assert.deepEqual(bodies, []);
});

test('several jobs become a sweep, and one becomes a job', async (t) => {
  const { run } = await setUp(t, { 'train.py': '' });
  const job = profileOf({ script: 'train.py ${matrix:lr}', matrix: { lr: [1, 2] } });
  const several = await run({ job, script: 'train.py 1' });
  assert.deepEqual(several?.type === 'sweep' && several.sweep.drafts.map(({ script }) => script), [
    'train.py 1',
    'train.py 2',
  ]);
  const [parameters = {}] = job.combinations;
  const one = await run({ job: { ...job, combinations: [parameters] }, script: 'train.py 1' });
  assert.equal(one?.type === 'job' && one.record.script, 'train.py 1');
});

test('nothing is sent unless the user agrees to what the profile does, and to the jobs', async (t) => {
  const { run, bodies } = await setUp(t, { 'train.py': '' });
  const job = profileOf({ script: 'train.py', volumes: ['scratch'] });
  const asked: string[] = [];
  const allowProfile = async (sentence: string): Promise<boolean> => asked.push(sentence) > 1;
  const confirm = async (): Promise<undefined> => undefined;
  const known: Preflight['access'][] = [];
  assert.equal(await run({ job, script: 'train.py' }, { allowProfile }), undefined);
  assert.equal(await run({ job, script: 'train.py' }, { allowProfile, confirm }), undefined);
  const shown = async ({ access }: Preflight): Promise<undefined> => void known.push(access);
  assert.equal(await run({ job, script: 'train.py' }, { allowProfile, confirm: shown }), undefined);
  const sentence = 'Profile train gives your volume scratch to the job.';
  assert.deepEqual([asked, known], [[sentence, sentence], [{ sentence, isNew: false }]]);
  assert.deepEqual(bodies, []);
});

test('a flow is sent with what starts it, and shown as it was written', async (t) => {
  const { run, bodies, flow } = await setUp(t, { 'chat.mts': '', 'start.sh': '#!/bin/' });
  const shown: string[] = [];
  const sent = await run(
    { script: 'chat.mts --fast' },
    { confirm: async ({ plans }) => (shown.push(...plans.jobs.map(({ plan }) => plan.draft.script)), plans) },
  );
  assert.deepEqual(shown, ['chat.mts --fast']);
  assert.equal(sent?.type === 'job' && sent.record.script, '.farwharf/chat.mts.sh --fast');
  assert.match(bodies[0] ?? '', /"script":"\.farwharf\/chat\.mts\.sh --fast"/);
  assert.deepEqual([flow.sentAs, flow.isDisposed], ['job-1', true]);
  const job = profileOf({ script: '${matrix:file}', matrix: { file: ['chat.mts', 'start.sh'] } });
  await assert.rejects(run({ job, script: 'chat.mts' }), { code: 'bad-input', message: /chat\.mts is a flow/ });
});

test('the folder is read again only for another choice of files, or after it has changed', async (t) => {
  const { run, choices } = await setUp(t, { 'train.py': '', 'b.py': '', '.env': 'A=1' });
  const counts: number[] = [];
  await run(
    { script: 'train.py' },
    {
      confirm: async ({ plans, replan }) => {
        const [first] = plans.jobs;
        if (first === undefined) return undefined;
        const { draft } = first.plan;
        for (const change of [{ maxRuntime: 5 }, { exclude: ['b.py'] }, { exclude: ['b.py'], script: 'b.py' }, {}]) {
          const { selection } = await replan({ ...draft, ...change });
          counts.push(choices.length, selection.fileCount);
        }
        await replan(draft, true);
        return undefined;
      },
    },
  );
  assert.deepEqual(counts, [0, 2, 1, 1, 1, 1, 2, 2]);
  assert.equal(choices.length, 3);
});

test('a stored archive is sent again with its terms, unless the user cancels or the service would refuse it', async (t) => {
  const { run, bodies, service } = await setUp(t, { 'train.py': '' });
  const data = { ...ACCOUNT, volumes: [{ name: 'data', writable: false }] };
  const target = async () => ({ host: service.host, service: 'the service', account: data });
  const sent = await run({ script: 'train.py', fixed: { project: 'vision', cluster: { qos: 'long' } } });
  assert.ok(sent?.type === 'job');
  const stored = { ...service, target, send: <T>(work: (options: object) => Promise<T>) => work({}) };
  assert.equal(await submitStored(sent.record, stored, async () => false), undefined);
  const gone = { ...sent.record, volumes: ['gone'] };
  await assert.rejects(
    submitStored(gone, stored, async () => true),
    { code: 'bad-input', message: /volume.* Nothing was sent\.$/ },
  );
  const again = await submitStored(sent.record, stored, async () => true);
  assert.notEqual(again?.id, sent.record.id);
  const metaOfBody = (body = ''): unknown => JSON.parse(/\{.*"script".*\}/.exec(body)?.[0] ?? '');
  assert.equal(bodies.length, 2);
  assert.deepEqual(metaOfBody(bodies[1]), metaOfBody(bodies[0]));
});

const WORDS = ['python', '-c', 'print("it\'s")', '$HOME', 'a\nb', ''];
const KNOWS_COMMANDS = { ...ACCOUNT, features: ['command'] };

test('a command is sent as words to a service that runs commands, is the title of its job, and can be sent again', async (t) => {
  const { run, bodies, again } = await setUp(t, { 'train.py': '' }, KNOWS_COMMANDS);
  const sent = await run({ program: startedCommand(WORDS) });
  assert.ok(sent?.type === 'job');
  const { record } = sent;
  assert.equal(record.script, `python -c 'print("it'\\''s")' '$HOME' 'a b' ''`);
  assert.deepEqual([record.command, record.commandScript], [WORDS, null]);
  await again(record.id);
  assert.equal(bodies.length, 2);
  for (const body of bodies) {
    assert.ok(body.includes(`"command":${JSON.stringify(WORDS)}`));
    assert.doesNotMatch(body, /"script"/);
  }
});

test('for a service that runs scripts only, a command becomes a script beside the files, and the preview says so', async (t) => {
  const { run, bodies, root, again } = await setUp(t, { 'train.py': '' });
  const asked: string[] = [];
  const sent = await run(
    { program: startedCommand(WORDS) },
    {
      confirm: async ({ plans, findings }) => {
        asked.push(...findings.map(({ severity, summary, detail }) => `${severity}: ${summary}. ${detail}`));
        return plans;
      },
    },
  );
  assert.deepEqual(asked, [
    'warning: the service runs scripts only, so the command is sent as .farwharf/command.sh. This file is added to what is sent. Your folder stays as it is.',
  ]);
  assert.ok(sent?.type === 'job');
  assert.deepEqual([sent.record.command, sent.record.commandScript], [WORDS, '.farwharf/command.sh']);
  assert.deepEqual(readdirSync(root), ['train.py']);
  await again(sent.record.id);
  for (const body of bodies) assert.match(body, /"script":"\.farwharf\/command\.sh"/);
  for (const body of bodies) assert.doesNotMatch(body, /"command"/);
  const folder = tempHome(t);
  const { archive } = sent.record;
  spawnSync('tar', ['-xzf', archive ?? '', '-C', folder]);
  const script = readFileSync(join(folder, '.farwharf/command.sh'), 'utf8');
  writeFileSync(join(folder, 'show'), script.replace('exec python -c', 'printf "%s\\0"'));
  const shown = spawnSync('sh', [join(folder, 'show')]).stdout.toString();
  assert.deepEqual(shown.split('\0').slice(0, -1), WORDS.slice(2));
});

test('a sweep of commands has the parameters in its words, and a script for each where a service runs scripts only', async (t) => {
  const profile = {
    command: ['python', 'train.py', '--lr=${matrix:lr}', '${matrix:name}'],
    matrix: { lr: [1, 2], name: ['a b'] },
  };
  const job = profileOf(profile);
  const commands = [1, 2].map((lr) => ['python', 'train.py', `--lr=${lr}`, 'a b']);
  for (const [account, scripts] of [
    [KNOWS_COMMANDS, [null, null]],
    [ACCOUNT, ['.farwharf/command.sh', '.farwharf/command-2.sh']],
  ] as const) {
    const { run } = await setUp(t, { 'train.py': '' }, account);
    const sent = await run({ job, program: startedCommand(commands[0] ?? []) });
    const drafts = sent?.type === 'sweep' ? sent.sweep.drafts : [];
    assert.deepEqual(
      drafts.map(({ command }) => command),
      commands,
    );
    assert.deepEqual(
      drafts.map(({ commandScript }) => commandScript),
      scripts,
    );
    assert.equal(drafts[1]?.script, "python train.py --lr=2 'a b'");
  }
});

test('a command whose file is missing, or that no service runs, is refused before anything is sent', async (t) => {
  const { run, bodies } = await setUp(t, { 'train.py': '' }, KNOWS_COMMANDS);
  for (const [command, message] of [
    [['python', 'trian.py'], /trian\.py does not exist in the folder/],
    [[], /The command is not valid, so nothing was sent: it must begin with the name of a program/],
    [['x', 'a\0b'], /must not contain NUL/],
    [['x', 'y'.repeat(100_000)], /must be at most 32 KB/],
  ] as const)
    await assert.rejects(run({ program: startedCommand(command) }), { message });
  assert.deepEqual(bodies, []);
});
