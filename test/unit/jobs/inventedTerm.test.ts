import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import { Command } from 'commander';
import * as z from 'zod';

const TABLE = 'export const JOB_TERMS = {';
/** All that is written for a new term, besides the field of `JobSubmission`, which has no code. */
const ROWS = `
  urgency: {
    accepted: singleLine.max(20).optional(),
    stored: text,
    isRemembered: true,
    flag: { type: 'text', spelling: '--urgency <word>', description: 'how urgent the job is' },
    profile: 'How urgent the job is.',
    hasVariables: true,
    batch: { option: 'comment', type: 'text' },
  },
  licenses: {
    accepted: z.array(z.string()).optional(),
    stored: list,
    ofAccount: 'license',
    flag: { type: 'list', spelling: '--license <name>', description: 'use this license' },
    profile: 'Licenses of the account.',
  },`;
const INVENTED = '?invented';

// What is imported from here, and what that imports, are other copies than those of the tests that run in this process too.
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const { parentURL = '' } = context;
    const isCopy = parentURL === import.meta.url || parentURL.endsWith(INVENTED);
    return isCopy && specifier.startsWith('.') ? { ...resolved, url: `${resolved.url}${INVENTED}` } : resolved;
  },
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(`/jobTerms.ts${INVENTED}`)) return loaded;
    const [before, after, ...others] = readFileSync(new URL(url), 'utf8').split(TABLE);
    assert.equal(others.length, 0);
    return { ...loaded, source: `${before}${TABLE}${ROWS}${after}` };
  },
});

const { firstDraft, memoryOf } = await import('../../../src/jobs/plan/draft.ts');
const { newRecord, storedRecord } = await import('../../../src/jobs/ledger/record.ts');
const { statedTerms, submission } = await import('../../../src/remote/protocol/jobTerms.ts');
const { metaOf } = await import('../../../src/remote/transfers/submission.ts');
const { SUBMIT_FLAGS } = await import('../../../src/cli/submit/submitFlags.ts');
const { submitTerms } = await import('../../../src/cli/submit/submitProfile.ts');
const { readFlags } = await import('../../../src/cli/command/flags.ts');
const { parseProfiles } = await import('../../../src/jobs/profiles/profileFile.ts');
const { profileFile } = await import('../../../src/jobs/profiles/profileSchema.ts');
const { profileJob } = await import('../../../src/jobs/profiles/profileJob.ts');
const { describeAccess, missingConsent } = await import('../../../src/jobs/profiles/profileConsent.ts');
const { batchProfile } = await import('../../../src/jobs/profiles/batchProfile.ts');
const { readSubmitArguments } = await import('../../../src/extension/submit/submitArguments.ts');

type Intent = Parameters<typeof firstDraft>[0];
const USUAL = { memory: { scripts: [] }, defaults: { maxRuntime: 60, machineClass: '', project: '' }, rates: [] };

function profileOf(fields: object) {
  const { profiles, problems } = parseProfiles(JSON.stringify({ profiles: { it: { script: 'a.py', ...fields } } }));
  assert.deepEqual(problems, []);
  return profileJob(profiles[0] ?? assert.fail());
}

function typed(...words: string[]): Intent {
  const command = new Command();
  for (const { options } of Object.values(SUBMIT_FLAGS)) for (const option of options) command.addOption(option);
  const flags = readFlags(SUBMIT_FLAGS, command.parse(words, { from: 'user' }).opts());
  return submitTerms(undefined, {}, { flags, venv: undefined, env: {} });
}

const FRONTS: Record<string, () => Intent> = {
  'a flag': () => typed('--script', 'a.py', '--urgency', 'high', '--license', 'cad'),
  'a profile': () =>
    profileOf({ urgency: '${env:HOW}', licenses: ['cad'] }).terms({ env: { HOW: 'high' }, file: undefined }),
  'a sweep': () => {
    const { terms, combinations } = profileOf({ urgency: '${matrix:how}', matrix: { how: ['high'] } });
    return terms({ env: {}, file: undefined, parameters: combinations[0] ?? assert.fail() });
  },
  'a batch script': () => {
    const text = '#!/bin/sh\n#SBATCH --comment=high\n';
    const terms = batchProfile({ path: 'a.sh', text, folder: '/w' }).terms({ env: {}, file: undefined });
    assert.deepEqual(terms.batch?.remarks, []);
    return terms;
  },
  "arguments of the editor's command": () => readSubmitArguments({ script: 'a.py', urgency: 'high' }),
};

for (const [front, intentOf] of Object.entries(FRONTS)) {
  test(`an invented term gets from ${front} to the service, and into the ledger`, () => {
    const draft = firstDraft(intentOf(), { script: 'a.py' }, USUAL);
    const record = newRecord({ ...draft, id: 'x', host: 'local', state: 'sending', folder: '/w', createdAt: '' });
    const stored = storedRecord.parse(JSON.parse(JSON.stringify(record)));
    assert.equal(Reflect.get(stored, 'urgency'), 'high');
    const { script, maxRuntime } = stored;
    const meta = submission.parse(JSON.parse(JSON.stringify(metaOf({ ...statedTerms(stored), script, maxRuntime }))));
    assert.equal(Reflect.get(meta, 'urgency'), 'high');
    const hasLists = front === 'a flag' || front === 'a profile';
    assert.deepEqual(Reflect.get(meta, 'licenses'), hasLists ? ['cad'] : undefined);
    // The next submit of the folder begins with it, unless the script says it.
    const memory = { scripts: [], ...memoryOf(draft, undefined) };
    const remembered = front === 'a batch script' ? undefined : 'high';
    assert.equal(Reflect.get(firstDraft({}, { script: 'a.py' }, { ...USUAL, memory }), 'urgency'), remembered);
  });
}

test('an invented term is checked by the service and by the schema of profiles', () => {
  const { error } = submission.safeParse({ script: 'a.py', max_runtime: 1, urgency: 'x'.repeat(21) });
  assert.deepEqual(
    error?.issues.map(({ path }) => path.join('.')),
    ['urgency'],
  );
  const schema = JSON.stringify(z.toJSONSchema(profileFile, { io: 'input' }));
  assert.match(schema, /"description":"How urgent the job is\."/);
});

test('an invented list of what belongs to the account needs the consent of the user', async () => {
  const job = profileOf({ licenses: ['cad'] });
  const access = { ...job, host: 'https://a.example', isSwitch: false };
  const missing = (await missingConsent('/nowhere', '/w', access)) ?? assert.fail('no consent is needed');
  assert.equal(describeAccess(job, missing, 'a.example'), 'Profile it gives your license cad to the job.');
});
