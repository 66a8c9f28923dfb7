import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  describeAccess,
  hostOfProfile,
  missingConsent,
  needsConsent,
  type ProfileAccess,
  saveConsent,
} from '../../../../src/jobs/profiles/profileConsent.ts';
import { tempHome } from '../fixtures.ts';

const GPU = 'https://gpu.example.org';
const access: ProfileAccess = {
  host: GPU,
  isSwitch: true,
  variables: ['TOKEN'],
  include: ['.env'],
  secrets: ['HF_TOKEN'],
  volumes: ['datasets'],
};

test('a folder is asked once for a service and for the variables that it sends there', async (t) => {
  const home = tempHome(t);
  assert.deepEqual(await missingConsent(home, '/a', access), access);
  await saveConsent(home, '/a', access);
  await saveConsent(home, '/b', { ...access, isSwitch: false });
  assert.equal(await missingConsent(home, '/a', access), undefined);
  assert.deepEqual(await missingConsent(home, '/a', { ...access, variables: ['TOKEN', 'KEY'] }), {
    host: GPU,
    isSwitch: false,
    variables: ['KEY'],
    include: [],
    secrets: [],
    volumes: [],
  });
  assert.deepEqual(await missingConsent(home, '/a', { ...access, include: ['.env', 'id_rsa'] }), {
    host: GPU,
    isSwitch: false,
    variables: [],
    include: ['id_rsa'],
    secrets: [],
    volumes: [],
  });
  assert.deepEqual(await missingConsent(home, '/b', access), {
    host: GPU,
    isSwitch: true,
    variables: [],
    include: [],
    secrets: [],
    volumes: [],
  });
  assert.deepEqual((await missingConsent(home, '/a', { ...access, secrets: ['HF_TOKEN', 'API_KEY'] }))?.secrets, [
    'API_KEY',
  ]);
  const more = await missingConsent(home, '/a', { ...access, volumes: ['datasets', 'models'] });
  assert.deepEqual(more?.volumes, ['models']);
  const elsewhere = { ...access, host: 'https://other.example.org' };
  assert.deepEqual(await missingConsent(home, '/a', elsewhere), elsewhere);
});

test('a damaged file of consents means that nothing was agreed to', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'profileConsents.json'), '{"/a": 1}');
  assert.deepEqual(await missingConsent(home, '/a', access), access);
  await saveConsent(home, '/a', access);
  assert.equal(await missingConsent(home, '/a', access), undefined);
});

test('the question names the service and the variables', () => {
  assert.equal(
    describeAccess({ name: 'train' }, access, 'gpu.example.org'),
    'Profile train sends this folder to gpu.example.org, which is not your selected service, and reads TOKEN from your environment and sends it to gpu.example.org, and sends .env to gpu.example.org even if a rule leaves it out, and gives your secret HF_TOKEN to the job, and gives your volume datasets to the job.',
  );
  assert.equal(
    describeAccess(
      { name: 'train' },
      { ...access, isSwitch: false, variables: ['A', 'B'], include: [], secrets: [], volumes: [] },
      'this machine',
    ),
    'Profile train reads A, B from your environment and sends them to this machine.',
  );
});

test("a profile finds the user's services by their names only", () => {
  const hosts = [GPU, 'http://127.0.0.1:8080', 'https://hpc.example.org/farm'];
  assert.equal(hostOfProfile('gpu.example.org', hosts), GPU);
  assert.equal(hostOfProfile('127.0.0.1:8080', hosts), 'http://127.0.0.1:8080');
  assert.equal(hostOfProfile('hpc.example.org/farm', hosts), 'https://hpc.example.org/farm');
  assert.equal(hostOfProfile('local', []), 'local');
  assert.throws(() => hostOfProfile('gpu.exmple.org', hosts), {
    code: 'missing',
    message: /have not used yet\. Did you mean gpu\.example\.org\?/,
  });
  assert.throws(() => hostOfProfile('evil.example.org', []), {
    code: 'missing',
    message:
      'The profile names the service evil.example.org, which you have not used yet. Select it yourself first, or remove "service" from the profile.',
  });
  assert.equal(hostOfProfile('lab', ['ssh://lab']), 'ssh://lab');
});

test('each part of the question is there by itself, for one and for several', () => {
  const nothing = { host: GPU, isSwitch: false, variables: [], include: [], secrets: [], volumes: [] };
  const ask = (part: Partial<ProfileAccess>): string => describeAccess({ name: 'p' }, { ...nothing, ...part }, 'gpu');
  assert.equal(ask({ isSwitch: true }), 'Profile p sends this folder to gpu, which is not your selected service.');
  assert.equal(ask({ variables: ['A'] }), 'Profile p reads A from your environment and sends it to gpu.');
  assert.equal(ask({ include: ['a', 'b\u001b[2J'] }), 'Profile p sends a, b to gpu even if a rule leaves them out.');
  assert.equal(ask({ secrets: ['A', 'B'] }), 'Profile p gives your secrets A, B to the job.');
  assert.equal(ask({ volumes: ['a', 'b'] }), 'Profile p gives your volumes a, b to the job.');
});

test('there is something to agree to if any part has something', () => {
  const nothing = { host: GPU, isSwitch: false, variables: [], include: [], secrets: [], volumes: [] };
  assert.equal(needsConsent(nothing), false);
  for (const part of [
    { isSwitch: true },
    { variables: ['A'] },
    { include: ['a'] },
    { secrets: ['A'] },
    { volumes: ['a'] },
  ]) {
    assert.equal(needsConsent({ ...nothing, ...part }), true);
  }
});

test('what was agreed to is kept with what was agreed before, for the last 1,001 folders', async (t) => {
  const home = join(tempHome(t), 'new');
  const variable = (name: string): ProfileAccess => ({
    host: GPU,
    isSwitch: false,
    variables: [name],
    include: [],
    secrets: [],
    volumes: [],
  });
  await saveConsent(home, '/first', variable('A'));
  await saveConsent(home, '/first', variable('B'));
  await saveConsent(home, '/first', variable('B'));
  const stored = () => JSON.parse(readFileSync(join(home, 'profileConsents.json'), 'utf8')) as Record<string, string[]>;
  assert.deepEqual(stored(), { '/first': [`A ${GPU}`, `B ${GPU}`] });
  for (const name of ['A', 'B']) assert.equal(await missingConsent(home, '/first', variable(name)), undefined);
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`/${index}`, []]));
  writeFileSync(join(home, 'profileConsents.json'), JSON.stringify({ ...many, ...stored() }));
  await saveConsent(home, '/new', variable('C'));
  assert.deepEqual(
    [Object.keys(stored()).length, Object.keys(stored())[0], '/first' in stored()],
    [1_001, '/new', false],
  );
});
