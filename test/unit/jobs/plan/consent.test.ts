import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agreementTo, consentChanges, reviewConsent } from '../../../../src/jobs/plan/consent.ts';
import type { Agreement } from '../../../../src/jobs/plan/draft.ts';
import { MAX_LISTED, summarizeSelection } from '../../../../src/jobs/selection/selectedFolder.ts';
import { planSubmit } from '../../../../src/jobs/plan/plan.ts';
import type { Selection } from '../../../../src/workspace/select/selection.ts';

const agreed: Agreement = {
  host: 'https://gpu.example.org',
  bytes: 3_000_000,
  cost: 6,
  reasons: ['gitignore', 'secret'],
  secrets: ['.env'],
  findings: [],
  choices: [],
};

test('the same submit brings nothing new', () => {
  assert.deepEqual(consentChanges(agreed, agreed), []);
});

test('a folder that grew to at most twice its size is nothing new', () => {
  assert.deepEqual(consentChanges(agreed, { ...agreed, bytes: 6_000_000 }), []);
});

test('less of everything is nothing new', () => {
  assert.deepEqual(consentChanges(agreed, { ...agreed, bytes: 10, cost: 1, reasons: [], secrets: [] }), []);
});

const changes: readonly [string, Partial<Agreement>, RegExp][] = [
  ['another host', { host: 'local' }, /goes to local/],
  ['a file that looks like a secret', { secrets: ['.env', 'key.pem'] }, /key\.pem looks like a secret/],
  ['another kind of exclusion', { reasons: ['gitignore', 'secret', 'venv'] }, /virtual environment/],
  ['another finding', { findings: ['large-file data.bin'] }, /1 new finding/],
  ['a choice by hand', { choices: ['+.env'] }, /included or excluded other files/],
  ['twice the size', { bytes: 6_000_001 }, /grew from 3\.0 MB to 6\.0 MB/],
  ['a higher cost', { cost: 6.5 }, /6\.5 credits/],
];
for (const [name, change, sentence] of changes) {
  test(`${name} is new`, () => {
    const things = consentChanges(agreed, { ...agreed, ...change });
    assert.equal(things.length, 1);
    assert.match(things[0] ?? '', sentence);
  });
}

test('a price that is no longer known is new', () => {
  const { cost: _, ...unpriced } = agreed;
  assert.match(consentChanges(agreed, unpriced)[0] ?? '', /price is no longer known/);
  assert.deepEqual(consentChanges(unpriced, unpriced), []);
});

test('a known price where none was known is new', () => {
  const { cost: _, ...unpriced } = agreed;
  assert.match(consentChanges(unpriced, agreed)[0] ?? '', /6 credits/);
});

test('a small folder may grow without a question', () => {
  assert.deepEqual(consentChanges({ ...agreed, bytes: 100 }, { ...agreed, bytes: 900_000 }), []);
});

test('the consent names excluded secrets and included secrets', () => {
  const selection: Selection = {
    root: '/w',
    files: [],
    totalBytes: 5,
    excluded: [
      { path: '.env', type: 'file', reason: 'secret' },
      { path: 'out', type: 'directory', reason: 'gitignore' },
    ],
    findings: [
      { type: 'secret', path: 'config.py', message: 'holds a token' },
      { type: 'large-file', path: 'data.bin', message: 'is large' },
    ],
  };
  const draft = { script: 'train.py', maxRuntime: 60, include: ['config.py'], exclude: [] };
  const plan = planSubmit(
    { host: 'local', service: 'this machine', account: undefined },
    draft,
    summarizeSelection('1', selection),
  );
  assert.deepEqual(agreementTo(plan), {
    host: 'local',
    bytes: 5,
    reasons: ['secret', 'gitignore'],
    secrets: ['.env', 'config.py'],
    findings: ['large-file data.bin'],
    choices: ['+config.py'],
  });
});

test('a price where there was none needs a new agreement, and no price needs none', () => {
  const draft = { script: 'train.py', maxRuntime: 60, include: [], exclude: [] };
  const selection = { root: '/w', files: [], totalBytes: 5, excluded: [], findings: [] };
  const agreementFor = (price: object) => {
    const account = { features: ['unpriced'], rate_card: [{ machine_class: 'cpu', cpus: 4, ...price }] };
    const target = { host: 'local', service: 'this machine', account };
    return agreementTo(planSubmit(target, draft, summarizeSelection('1', selection)));
  };
  const [unpriced, priced] = [agreementFor({}), agreementFor({ credits_per_minute: 6 })];
  assert.deepEqual(consentChanges(unpriced, priced), ['The job can now cost up to 6 credits.']);
  assert.deepEqual(consentChanges(priced, unpriced), []);
  const { cost: _, ...unknown } = priced;
  assert.deepEqual(consentChanges(unknown, unpriced), []);
});

test('a plan is sent without a question only as the setting says, while nothing changed and nothing is refused', () => {
  const draft = { script: 'train.py', maxRuntime: 60, include: [], exclude: [] };
  const selection = { root: '/w', files: [], totalBytes: 5, excluded: [], findings: [] };
  const summary = summarizeSelection('1', selection);
  const planFor = (host: string, maxRuntime = 60) =>
    planSubmit({ host, service: host, account: { limits: { max_runtime: 60 } } }, { ...draft, maxRuntime }, summary);
  const same = planFor('local');
  const consent = agreementTo(same);
  assert.deepEqual(reviewConsent(same, consent, 'untilNew'), { mustAsk: false, changes: [] });
  assert.equal(reviewConsent(same, undefined, 'untilNew').mustAsk, true);
  assert.equal(reviewConsent(same, consent, 'always').mustAsk, true);
  assert.deepEqual(reviewConsent(planFor('https://gpu.example.org'), consent, 'untilNew'), {
    mustAsk: true,
    changes: ['The job now goes to https://gpu.example.org.'],
  });
  assert.equal(reviewConsent(planFor('local', 61), consent, 'untilNew').mustAsk, true);
  assert.equal(reviewConsent(planFor('local', 61), undefined, 'never').mustAsk, false);
});

test('a folder with more secrets than are listed is always a question', () => {
  const excluded = Array.from({ length: MAX_LISTED + 1 }, (_, at) => ({
    path: `${at}.pem`,
    type: 'file' as const,
    reason: 'secret' as const,
  }));
  const draft = { script: 'train.py', maxRuntime: 60, include: [], exclude: [] };
  const selection = { root: '/w', files: [], totalBytes: 5, excluded, findings: [] };
  const target = { host: 'local', service: 'this machine', account: undefined };
  const plan = planSubmit(target, draft, summarizeSelection('1', selection));
  assert.equal(reviewConsent(plan, agreementTo(plan), 'untilNew').mustAsk, true);
});

test('each change is a sentence, and all of them are said in one order', () => {
  const before: Agreement = {
    host: 'a',
    bytes: 1_000_001,
    cost: 1,
    reasons: [],
    secrets: [],
    findings: [],
    choices: [],
  };
  const now: Agreement = {
    host: 'b\u001b[2J',
    bytes: 2_000_003,
    cost: 2,
    reasons: ['secret', 'venv', 'cache'],
    secrets: ['1', '2', '3\u0007', '4'],
    findings: ['x', 'y'],
    choices: ['+a'],
    jobSecrets: ['A', 'B'],
  };
  assert.deepEqual(consentChanges(before, now), [
    'The job now goes to b.',
    'New: 1, 2, 3 looks like a secret.',
    'The job now gets the secrets A, B.',
    'Now left out as well: virtual environment, cache or installed packages.',
    '2 new findings.',
    'You included or excluded other files.',
    'The folder grew from 1.0 MB to 2.0 MB.',
    'The job can now cost up to 2 credits.',
  ]);
  assert.deepEqual(consentChanges(before, { ...before, findings: ['x'] }), ['1 new finding.']);
  const { cost: _, ...unpriced } = before;
  assert.deepEqual(consentChanges(before, unpriced), ['The price is no longer known.']);
  assert.deepEqual(consentChanges({ ...before, jobSecrets: ['A'] }, { ...before, jobSecrets: ['A'] }), []);
  assert.deepEqual(consentChanges({ ...before, jobSecrets: ['A'] }, before), []);
  assert.deepEqual(consentChanges({ ...before, bytes: 1 }, { ...before, bytes: 1_000_000 }), []);
  assert.equal(consentChanges({ ...before, bytes: 1 }, { ...before, bytes: 1_000_001 }).length, 1);
});

test('an agreement has what was shown: the price, the findings, the choices and the secrets of the job', () => {
  const selection: Selection = {
    root: '/w',
    files: [{ path: 'a.py', size: 5, mode: 0o644, mtimeMs: 0 }],
    totalBytes: 5,
    excluded: [],
    findings: [
      { type: 'foreign-repository', path: '/r', message: '' },
      { type: 'tracked-but-ignored', path: 'a.log', message: '' },
    ],
  };
  const account = { credits: 9, rate_card: [{ machine_class: 'x', credits_per_minute: 1 }] };
  const draft = { script: 'a.py', maxRuntime: 60, include: ['i'], exclude: ['e'], secrets: ['S'] };
  const plan = planSubmit({ host: 'local', service: 's', account }, draft, summarizeSelection('1', selection));
  const finding = { type: 'left-out-read', severity: 'warning', summary: 'may read x', detail: '' } as const;
  assert.deepEqual(agreementTo({ ...plan, findings: [finding, { ...finding, type: 'credits' }] }), {
    host: 'local',
    bytes: 5,
    cost: 1,
    reasons: [],
    secrets: [],
    findings: ['tracked-but-ignored a.log', 'may read x'],
    jobSecrets: ['S'],
    choices: ['+i', '-e'],
  });
});
