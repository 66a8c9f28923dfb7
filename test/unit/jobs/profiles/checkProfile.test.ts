import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkProfile, type ProfileSurroundings } from '../../../../src/jobs/profiles/checkProfile.ts';
import { findProfile, parseProfiles } from '../../../../src/jobs/profiles/profileFile.ts';

const GPU = 'https://gpu.example.org';
const surroundings: ProfileSurroundings = {
  current: 'local',
  hosts: [GPU],
  classesOf: (host) => (host === GPU ? ['a10g', 'h100'] : undefined),
  hasFile: async (path) => path === 'train.py',
};

async function check(profile: object, around = surroundings): Promise<(readonly [place: string, message: string])[]> {
  const text = JSON.stringify({ profiles: { train: profile } });
  const found = await checkProfile(findProfile(parseProfiles(text).profiles, 'train'), around);
  return found.map(({ message, start, end }) => [text.slice(start, end), message]);
}

test('a script, a machine class and a service that do not exist are marked at their places', async () => {
  assert.deepEqual(
    await check({ script: 'train.py --epochs 3', service: 'gpu.example.org', machineClass: 'h100' }),
    [],
  );
  assert.deepEqual(await check({ script: 'trian.py', service: 'gpu.example.org', machineClass: 'h10' }), [
    ['"h10"', 'Machine class "h10" does not exist there. Available: a10g, h100.'],
    ['"trian.py"', 'trian.py does not exist in this folder.'],
  ]);
  const classesOf = () => assert.fail('no other service has the classes of this one');
  const unknown = { script: 'train.py', service: 'evil.example.org', machineClass: 'x' };
  const [service, ...others] = await check(unknown, { ...surroundings, classesOf });
  assert.equal(service?.[0], '"evil.example.org"');
  assert.deepEqual(others, []);
});

test('what cannot be known is not marked', async () => {
  assert.deepEqual(await check({ script: 'train.py', machineClass: 'x' }), []);
  assert.deepEqual(await check({ script: '${file}', machineClass: '${env:CLASS}', service: 'gpu.example.org' }), []);
  assert.deepEqual(await check({ script: 'train.py', machineClass: 'x' }, { ...surroundings, current: undefined }), []);
});
