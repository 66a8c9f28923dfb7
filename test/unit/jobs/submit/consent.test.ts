import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agreementTo, consentChanges, reviewConsent } from '../../../../src/jobs/submit/consent.ts';
import type { Agreement } from '../../../../src/jobs/submit/draft.ts';
import { MAX_LISTED, summarizeSelection } from '../../../../src/jobs/selection/selectedFolder.ts';
import { planSubmit } from '../../../../src/jobs/submit/plan.ts';
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
