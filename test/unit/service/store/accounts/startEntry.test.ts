import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { recordStart } from '../../../../../src/service/store/accounts/startEntry.ts';
import { Store } from '../../../../../src/service/store/store.ts';

const FACTS = { operator: { user: 'ada' }, version: '1.2.3', deletion: undefined };

function openStore(t: TestContext): Store {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-audit-'));
  const store = new Store(folder);
  t.after(() => {
    store.dispose();
    rmSync(folder, { recursive: true });
  });
  return store;
}

test('the audit trail has each start with the settings that changed, and no secret', (t) => {
  const { audit } = openStore(t);
  const config = {
    limits: { uploads: 2, rate: undefined },
    machines: [{ name: 'cpu', cores: 4 }],
    metrics: { token: 'very-secret' },
    banner: 'x'.repeat(201),
  };
  recordStart(audit, config, FACTS);
  recordStart(audit, { ...config, metrics: { token: 'another-secret' } }, FACTS);
  recordStart(audit, { ...config, limits: { uploads: 3 }, machines: [] }, FACTS);
  const [changed, same, first, ...others] = [...audit.newestFirst()];
  assert.deepEqual(others, []);
  const { verb, operator, outcome } = first ?? {};
  assert.deepEqual([verb, operator, outcome], ['service.start', FACTS.operator, 'done']);
  assert.partialDeepStrictEqual(first?.after, {
    version: '1.2.3',
    settings: { 'limits.uploads': 2, 'machines.cpu.name': 'cpu', 'machines.cpu.cores': 4, 'metrics.token': 'set' },
  });
  assert.deepEqual(first?.input, {
    changed: ['limits.uploads', 'machines.cpu.name', 'machines.cpu.cores', 'metrics.token', 'banner'],
  });
  assert.deepEqual(Object.keys(same?.after ?? {}), ['version', 'sha256']);
  assert.match(JSON.stringify(same?.after), /"sha256":"[0-9a-f]{64}"/);
  assert.deepEqual(changed?.input, { changed: ['limits.uploads', 'machines.cpu.name', 'machines.cpu.cores'] });
  assert.deepEqual(changed?.before, { 'limits.uploads': 2, 'machines.cpu.name': 'cpu', 'machines.cpu.cores': 4 });
  assert.doesNotMatch(JSON.stringify([changed, same, first]), /secret|xxxx/);
});

test('a deletion that a start was confirmed for is an entry of its own', (t) => {
  const { audit } = openStore(t);
  recordStart(audit, {}, { ...FACTS, deletion: 'Jobs after 30 days' });
  assert.deepEqual(
    [...audit.newestFirst()].map(({ verb, input, outcome }) => [verb, input, outcome]),
    [
      ['service.start', { changed: [] }, 'done'],
      ['retention.confirm', { deletion: 'Jobs after 30 days' }, 'done'],
    ],
  );
});

test('of settings that came or went, an entry has what they were before, and other entries in between do not matter', (t) => {
  const { audit } = openStore(t);
  recordStart(audit, { limits: { uploads: 2 }, plain: 'x'.repeat(200) }, FACTS);
  const after = { settings: { 'limits.uploads': 9 } };
  audit.append({ at: '2026-01-01T00:00:00.000Z', operator: { user: 'ada' }, verb: 'x', after, outcome: 'done' });
  recordStart(audit, { limits: { streams: 3 }, plain: 'x'.repeat(200) }, FACTS);
  const [last] = audit.newestFirst();
  assert.deepEqual(last?.input, { changed: ['limits.uploads', 'limits.streams'] });
  assert.deepEqual(last?.before, { 'limits.uploads': 2, 'limits.streams': null });
  assert.partialDeepStrictEqual(last?.after, { settings: { 'limits.streams': 3, plain: 'x'.repeat(200) } });
});

test('of a long setting, an entry has what identifies it, so that a change shows', (t) => {
  const { audit } = openStore(t);
  for (const letter of ['a', 'b', 'b']) recordStart(audit, { banner: letter.repeat(201) }, FACTS);
  const [same, changed, first] = audit.newestFirst();
  const idOf = (letter: string) => ({ banner: `sha256:${hash('sha256', letter.repeat(201))}` });
  assert.partialDeepStrictEqual(first?.after, { settings: idOf('a') });
  assert.deepEqual([changed?.input, changed?.before], [{ changed: ['banner'] }, idOf('a')]);
  assert.equal(same?.input, undefined);
});
