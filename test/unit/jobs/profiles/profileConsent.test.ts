import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  describeAccess,
  hostOfProfile,
  missingConsent,
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
  });
  assert.deepEqual(await missingConsent(home, '/a', { ...access, include: ['.env', 'id_rsa'] }), {
    host: GPU,
    isSwitch: false,
    variables: [],
    include: ['id_rsa'],
    secrets: [],
  });
  assert.deepEqual(await missingConsent(home, '/b', access), {
    host: GPU,
    isSwitch: true,
    variables: [],
    include: [],
    secrets: [],
  });
  assert.deepEqual((await missingConsent(home, '/a', { ...access, secrets: ['HF_TOKEN', 'API_KEY'] }))?.secrets, [
    'API_KEY',
  ]);
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
    'Profile train sends this folder to gpu.example.org, which is not your selected service, and reads TOKEN from your environment and sends it to gpu.example.org, and sends .env to gpu.example.org even if a rule leaves it out, and gives your secret HF_TOKEN to the job.',
  );
  assert.equal(
    describeAccess(
      { name: 'train' },
      { ...access, isSwitch: false, variables: ['A', 'B'], include: [], secrets: [] },
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
  assert.throws(() => hostOfProfile('evil.example.org', []), { code: 'missing' });
});
