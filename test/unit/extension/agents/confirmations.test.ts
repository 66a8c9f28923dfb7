import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConfirmation } from '../../../../src/extension/agents/confirmations.ts';

const SETTING = { service: 'gpu.example.org', folder: '/home/ada/model', plan: undefined };

/** What `preflight_job` answers for a folder with these files. */
function plan(paths: readonly string[], { count = paths.length, ...data }: Readonly<Record<string, number>>) {
  return {
    isError: false,
    text: 'checked',
    data: { files: { count, first: paths.map((path) => ({ path })) }, ...data },
  };
}

function submitMessage(setting: Partial<Parameters<typeof describeConfirmation>[2]>): string {
  return describeConfirmation('submit_job', { script: 'train.py' }, { ...SETTING, ...setting }).message;
}

test('a submit names the script, the service, the highest price, and what is sent', () => {
  const checked = plan(['train.py', 'data.csv'], { max_credits: 6, credits: 312, total_bytes: 1_200_000 });
  const asked = describeConfirmation('submit_job', { script: 'train.py' }, { ...SETTING, plan: checked });
  assert.equal(asked.title, 'Submit train.py to gpu.example.org?');
  assert.equal(asked.message, 'At most 6 of 312 credits. 2 files, 1.2 MB: train.py, data.csv.');
  const installing = { ...checked, data: { ...checked.data, packages: 'uv.lock' } };
  assert.equal(submitMessage({ plan: installing }), `${asked.message} Installs packages from uv.lock first.`);
});

test('of many files the first are named, and the others are counted', () => {
  const paths = Array.from({ length: 20 }, (_, index) => `part-${index}.csv`);
  const message = submitMessage({ plan: plan(paths, { count: 400, max_credits: 1, total_bytes: 10 }) });
  assert.match(message, /^At most 1 credits?\. 400 files, 10 B: part-0\.csv, /);
  assert.match(message, /part-7\.csv and 392 more\.$/);
});

test('a price that the service does not tell is called unknown, never free', () => {
  assert.match(submitMessage({ plan: plan(['a.py'], { credits: 312 }) }), /^The price is unknown\. 1 file, /);
});

for (const [what, result] of [
  ['gave no answer', undefined],
  ['failed', { isError: true, text: 'The script "train.py" does not exist.', data: {} }],
  ['answered without its files', { isError: false, text: 'checked', data: { files: 'all of them' } }],
] as const) {
  test(`a submit whose check ${what} says so, and promises neither files nor a price`, () => {
    const message = submitMessage({ plan: result });
    assert.equal(message, `The job could not be checked: ${result?.text ?? 'no answer'}`);
  });
}

test('results are downloaded into the folder that is named, by default the open one', () => {
  const into = (input: object): string => describeConfirmation('fetch_results', input, SETTING).message;
  assert.match(into({ job_id: 'job-1' }), /written into \/home\/ada\/model\. Your own files are kept\./);
  assert.match(into({ job_id: 'job-1', into: '/tmp/results' }), /written into \/tmp\/results\./);
  const { title } = describeConfirmation('fetch_results', { job_id: 'job-1' }, SETTING);
  assert.equal(title, 'Download the results of job job-1?');
});

test('a flow says that it runs code of the folder on this machine', () => {
  const asked = describeConfirmation('run_flow', { file: 'flow.ts' }, SETTING);
  assert.equal(asked.title, 'Run flow.ts on this machine?');
  assert.equal(asked.message, 'This runs code of /home/ada/model with your rights.');
});

test('a sweep says how many jobs it has, and a cancelled job what it costs', () => {
  const checked = plan(['train.py'], { max_credits: 6, credits: 312, total_bytes: 10 });
  const sweep = { ...checked, data: { ...checked.data, jobs: { count: 12, first: [] } } };
  const asked = describeConfirmation('submit_sweep', { profile: 'search' }, { ...SETTING, plan: sweep });
  assert.equal(asked.title, 'Submit search to gpu.example.org?');
  assert.equal(asked.message, '12 jobs. At most 6 of 312 credits. 1 file, 10 B: train.py.');
  assert.deepEqual(describeConfirmation('cancel_job', { job_id: 'job-1' }, SETTING), {
    title: 'Cancel job job-1?',
    message: 'The time that it ran is charged.',
  });
});

test('what an agent writes into an argument cannot break the line of the question or hide its end', () => {
  const name = 'safe.py?\n\nApproved by your administrator.\u202e\u001b[2K';
  for (const [tool, input] of [
    ['submit_job', { script: name }],
    ['submit_sweep', { profile: name }],
    ['cancel_job', { job_id: name }],
    ['fetch_results', { job_id: name, into: name }],
    ['run_flow', { file: name }],
  ] as const) {
    const { title, message } = describeConfirmation(tool, input, SETTING);
    for (const text of [title, message]) assert.doesNotMatch(text, /[\p{Cc}\u202e]/u);
  }
  const files = submitMessage({ plan: plan([name], { max_credits: 1 }) });
  assert.doesNotMatch(files, /[\p{Cc}\u202e]/u);
});

test('arguments of another type than the tool declares are left out', () => {
  for (const input of [undefined, null, 'train.py', { script: 7 }, { script: ['a'] }])
    assert.match(describeConfirmation('submit_job', input, SETTING).title, /^Submit\s+to gpu\.example\.org\?$/);
});
