import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PreflightRow, preflightRows } from '../../../../../src/extension/submit/preflight/preflightItems.ts';
import {
  exclusionSentence,
  parseTimeLimit,
  rateText,
  timeLimitOffers,
} from '../../../../../src/extension/submit/preflight/preflightText.ts';
import type { SubmitView } from '../../../../../src/extension/submit/preflight/submitView.ts';
import { type SelectedFolder, summarizeSelection } from '../../../../../src/jobs/selection/selectedFolder.ts';
import type { SubmitDraft } from '../../../../../src/jobs/plan/draft.ts';
import { preflightJob } from '../../../../../src/jobs/plan/preflight.ts';
import type { Exclusion, SelectedFile, Selection } from '../../../../../src/workspace/select/selection.ts';

const file = (path: string, size: number, mode = 0o644): SelectedFile => ({ path, size, mode, mtimeMs: 0 });
const left = (path: string, reason: Exclusion['reason']): Exclusion => ({ path, type: 'file', reason });

const files = [file('data.bin', 3_000_000), file('train.py', 1000), file('requirements.txt', 20)];
const summarize = (fields: Partial<Selection>): SelectedFolder =>
  summarizeSelection('1', { root: '/w', files: [], totalBytes: 0, excluded: [], findings: [], ...fields });
const selection = summarize({
  files,
  totalBytes: 3_001_020,
  excluded: [left('a.log', 'gitignore'), left('b.log', 'gitignore'), left('.env', 'secret')],
});
const draft: SubmitDraft = {
  script: 'train.py',
  maxRuntime: 1200,
  machineClass: 'a10g',
  include: [],
  exclude: [],
};
const view: SubmitView = {
  folderName: 'model',
  draft,
  script: draft.script,
  host: 'https://gpu.example.org',
  selection,
  rates: [{ machineClass: 'a10g', creditsPerMinute: 0.3, description: 'one A10G' }],
  estimate: { type: 'known', creditsPerMinute: 0.3, highest: 6, balance: 312 },
  findings: [],
  secretNames: undefined,
  volumes: [],
  packages: undefined,
  packageLists: ['requirements.txt'],
  otherLists: [],
  usesContents: false,
  maxUploadBytes: undefined,
  accountId: undefined,
};
const find = (rows: readonly PreflightRow[], choice: PreflightRow['choice']) =>
  rows.find((row) => row.choice === choice);

test('the first row submits and shows the script, the place, what is sent and the maximum cost', () => {
  const [first] = preflightRows(view, []);
  assert.equal(first?.choice, 'submit');
  assert.equal(first?.label, '$(rocket) Submit train.py');
  assert.equal(first?.description, 'to gpu.example.org · a10g');
  assert.equal(first?.detail, '3 files, 3.0 MB will be sent. At most 6 credits of 312.');
});

test('volumes have a row where the account has some, or the job asks for some', () => {
  assert.equal(find(preflightRows(view, []), 'volumes'), undefined);
  const own = { ...view, volumes: [{ name: 'datasets', isWritable: false }] };
  assert.equal(find(preflightRows(own, []), 'volumes')?.description, 'none');
  const asked = { ...view, draft: { ...draft, volumes: ['datasets', 'cache'] } };
  assert.equal(find(preflightRows(asked, []), 'volumes')?.description, 'datasets, cache');
});

test('what is new since the last agreement stands in the first row', () => {
  const [first] = preflightRows(view, ['New: key.pem looks like a secret.']);
  assert.match(first?.detail ?? '', /key\.pem looks like a secret/);
});

test('each term has its row, with what it is now', () => {
  const rows = preflightRows(view, []);
  assert.equal(find(rows, 'script')?.description, 'train.py');
  assert.equal(find(rows, 'machine')?.description, 'a10g · 0.3 credits a minute');
  assert.equal(find(rows, 'machine')?.detail, 'one A10G');
  assert.match(find(rows, 'time')?.description ?? '', /^20 min · At most 6 credits/);
  assert.equal(find(rows, 'project')?.description, 'none');
  assert.match(find(rows, 'sent')?.detail ?? '', /^Largest: data\.bin 3\.0 MB, train\.py/);
  assert.equal(find(rows, 'left')?.detail, '1 secret (.env) · 2 ignored by git');
});

test('packages are a question only where the folder lists some', () => {
  assert.equal(find(preflightRows(view, []), 'packages')?.description, 'installs none · found requirements.txt');
  const other = { ...view, packageLists: [], otherLists: ['pnpm-lock.yaml'] };
  const described = find(preflightRows(other, []), 'packages')?.description;
  assert.equal(described, 'installs none · cannot install pnpm-lock.yaml there');
  assert.equal(find(preflightRows({ ...view, packageLists: [] }, []), 'packages'), undefined);
});

test('the row of packages says what happens with them', () => {
  const venv = { requirements: 'requirements.txt' };
  const row = (packages: SubmitView['packages']) =>
    find(preflightRows({ ...view, draft: { ...draft, venv }, packages }, []), 'packages')?.description;
  const name = 'requirements.txt';
  assert.equal(row(undefined), 'installs requirements.txt first');
  assert.equal(row({ name, state: 'ready' }), 'requirements.txt is installed already');
  assert.equal(
    row({ name, state: 'install', lastSeconds: 180 }),
    'requirements.txt will be installed first (last time 3 min)',
  );
  assert.equal(row({ name, state: 'install', lastSeconds: undefined }), 'requirements.txt will be installed first');
  assert.equal(
    row({ name, state: 'install-for-job', localPackage: '-e .' }),
    'requirements.txt will be installed for this job only, because -e . comes from the folder',
  );
});

test('what the service would refuse, findings and an empty folder are pointed out before the terms', () => {
  const findings: Selection['findings'] = [{ type: 'secret', path: 'config.py', message: 'holds a token' }];
  const poor: SubmitView = {
    ...view,
    selection: summarize({ findings }),
    findings: preflightJob(
      {
        credits: 2,
        rate_card: [{ machine_class: 'a10g', credits_per_minute: 0.3 }],
        limits: { max_runtime: 600, max_upload_bytes: 1e9 },
      },
      { machineClass: 'a10', maxRuntime: 1200 },
      'gpu.example.org',
    ),
  };
  const rows = preflightRows(poor, []);
  const labels = rows
    .map(({ label }) => label)
    .slice(
      0,
      rows.findIndex(({ label }) => label === 'Job'),
    )
    .join('\n');
  assert.equal(find(rows.slice(2), 'machine')?.detail, 'Available: a10g (0.3 credits a minute). Did you mean "a10g"?');
  assert.match(
    labels,
    /config\.py[^]*class "a10" does not exist on gpu\.example\.org[^]*20 min is too long[^]*No file would be sent/,
  );
});

test('secrets are named and listed first among excluded files', () => {
  const excluded = [left('x', 'cache'), ...['a', 'b', 'c', 'd'].map((name) => left(`${name}.pem`, 'secret'))];
  assert.equal(
    exclusionSentence(summarize({ excluded }).exclusions),
    '4 secrets (a.pem, b.pem, c.pem, …) · 1 cache or installed packages',
  );
  assert.equal(exclusionSentence([]), '');
});

test('the largest files come first, those of one size by name', () => {
  const files = [file('b', 1), file('a', 1), file('c', 2)];
  assert.deepEqual(
    summarize({ files }).largest.map(({ path }) => path),
    ['c', 'a', 'b'],
  );
});

for (const [text, seconds] of [
  ['90 s', 90],
  ['90', 5400],
  ['45min', 2700],
  ['2h', 7200],
  ['1 h 30 min', 5400],
  ['1.5 h', 5400],
  ['1d', 86_400],
  ['0', undefined],
  ['soon', undefined],
  ['2 h or so', undefined],
  ['-5 min', undefined],
] as const) {
  test(`a time limit of "${text}" is ${seconds === undefined ? 'not understood' : `${seconds} s`}`, () => {
    assert.equal(parseTimeLimit(text), seconds);
  });
}

test('each time limit on offer has its highest cost', () => {
  assert.equal(
    timeLimitOffers({ creditsPerMinute: 0.3 }).find(({ seconds }) => seconds === 3600)?.cost,
    'at most 18 credits',
  );
  assert.equal(timeLimitOffers(undefined)[0]?.cost, '');
  const unpriced = { creditsPerMinute: null, machine: { cpus: 4, gpus: 1 } };
  assert.equal(
    timeLimitOffers(unpriced).find(({ seconds }) => seconds === 900)?.cost,
    'up to 1 core-hour, 0.25 GPU-hours',
  );
});

test('a machine class has its price, or without one what a job can use of it', () => {
  assert.equal(rateText({ creditsPerMinute: 0.6 }, 3_600), '0.6 credits a minute · at most 36 in 1 h');
  assert.equal(rateText({ creditsPerMinute: 0 }, 3_600), '0 credits a minute · at most 0 in 1 h');
  assert.equal(rateText({ creditsPerMinute: null, machine: { cpus: 4, gpus: 0 } }, 3_600), 'up to 4 core-hours in 1 h');
  assert.equal(rateText({ creditsPerMinute: null, machine: { cpus: 0, gpus: 0 } }, 3_600), 'no price');
});
