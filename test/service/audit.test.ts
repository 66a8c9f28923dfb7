import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Finished, jsonLines, Scratch } from './commandLine.ts';

interface Entry {
  readonly number: number;
  readonly hash: string;
  readonly verb: string;
  readonly account_id?: string;
  readonly key_id?: string;
  readonly operator: { readonly user: string };
  readonly input?: Readonly<Record<string, unknown>>;
  readonly before?: Readonly<Record<string, unknown>> | null;
  readonly after?: Readonly<Record<string, unknown>> | null;
  readonly outcome: string;
}

class Trail {
  readonly data: string;
  readonly #scratch: Scratch;

  constructor(scratch: Scratch, data: string) {
    this.#scratch = scratch;
    this.data = data;
  }

  admin(...args: string[]): Promise<Finished> {
    return this.#scratch.run(['admin', ...args, '--data', this.data]);
  }

  /** The entries, oldest first. */
  async entries(...filters: string[]): Promise<Entry[]> {
    const { stdout, stderr } = await this.admin('audit', ...filters, '--json');
    const [answer] = jsonLines(stdout);
    assert.ok(answer, stderr);
    return (answer['entries'] as Entry[]).toReversed();
  }

  /** Changes the store of a stopped service as somebody would who may write it. */
  tamper(sql: string): void {
    const database = new DatabaseSync(join(this.data, 'service.db'));
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  }
}

/** What an operator does in a day, on a running service or on a stopped one. @returns the key that was shown. */
async function workADay(trail: Trail): Promise<string> {
  await trail.admin('account', 'add', 'ada', '--name', 'Ada', '--credits', '10');
  const key = (await trail.admin('key', 'add', 'ada', '--label', 'laptop')).stdout.trim();
  await trail.admin('credits', 'grant', 'ada', '5', '--note', 'May');
  await trail.admin('account', 'limits', 'ada', '--running-jobs', '3');
  const [added] = await trail.entries('--verb', 'keys.add');
  await trail.admin('key', 'revoke', added?.key_id ?? '');
  await trail.admin('account', 'disable', 'ada');
  assert.notEqual((await trail.admin('account', 'add', 'ada')).exit, 0);
  assert.notEqual((await trail.admin('account', 'disable', 'x'.repeat(100_000))).exit, 0);
  return key;
}

function checkDay(entries: readonly Entry[], key: string): void {
  const verbs = ['accounts.add', 'keys.add', 'credits.grant', 'accounts.limit', 'keys.revoke', 'accounts.disable'];
  assert.deepEqual(
    entries.map(({ verb, outcome }) => `${verb} ${outcome.split(':')[0]}`),
    [...verbs.map((verb) => `${verb} done`), 'accounts.add conflict', 'accounts.disable missing'],
  );
  const [, keyAdded, granted, limited, revoked, disabled, refused, missing] = entries;
  assert.ok(entries.every(({ operator }) => operator.user === userInfo().username));
  assert.ok(entries.slice(0, 7).every(({ account_id: id }) => id === 'ada'));
  assert.deepEqual([keyAdded?.before, keyAdded?.after?.['label']], [null, 'laptop']);
  assert.deepEqual([granted?.before?.['credits_available'], granted?.after?.['credits_available']], [10, 15]);
  assert.equal(granted?.input?.['note'], 'May');
  const limitsOf = (state: Entry['before']): unknown =>
    (state?.['limits'] as Record<string, unknown> | undefined)?.['running_jobs'];
  assert.deepEqual([limitsOf(limited?.before), limitsOf(limited?.after)], [null, 3]);
  assert.deepEqual(
    [revoked?.key_id, revoked?.before?.['state'], revoked?.after?.['state']],
    [keyAdded?.key_id, 'valid', 'revoked'],
  );
  assert.deepEqual([disabled?.before?.['disabled_at'], typeof disabled?.after?.['disabled_at']], [null, 'string']);
  assert.equal(refused?.after, undefined);
  const text = JSON.stringify(entries);
  assert.match(key, /^fw_/);
  assert.ok(!text.includes(key) && !text.includes(key.slice(3, 20)), 'the trail has a key');
  assert.ok(JSON.stringify(missing).length < 2_000, 'an entry grows with its input');
}

test('what an operator does with a running service is in its audit trail, and its start with the configuration', async () => {
  await using scratch = await Scratch.create();
  const config = await scratch.folder('config', {
    'service.toml': '[metrics]\ntoken = "a-secret-token-of-metrics"\n[process]\nisolation = "none"\n',
  });
  await scratch.serve(['--config', join(config, 'service.toml')]);
  const trail = new Trail(scratch, join(scratch.root, 'service-0'));
  const key = await workADay(trail);
  const [start, ...entries] = await trail.entries();
  assert.equal(start?.verb, 'service.start');
  const settings = start.after?.['settings'] as Record<string, unknown>;
  assert.deepEqual([settings['metrics.token'], settings['process.isolation']], ['set', 'none']);
  assert.match(String(start.after?.['sha256']), /^[0-9a-f]{64}$/);
  checkDay(entries, key);
  assert.deepEqual(
    (await trail.entries('--account', 'ada', '--verb', 'keys')).map(({ verb }) => verb),
    ['keys.add', 'keys.revoke'],
  );
  assert.equal((await trail.entries('--limit', '2')).length, 2);
  assert.equal((await trail.entries('--user', 'nobody-else')).length, 0);
  const table = await trail.admin('audit', '--verb', 'credits.grant');
  assert.match(table.stdout, /^ *NO +WHEN \(UTC\) +WHO +WHAT/);
  assert.match((await trail.admin('audit', '--verify')).stdout, /^9 entries, each intact\. Last hash: [0-9a-f]{64}\n$/);
  assert.ok(!readFileSync(join(trail.data, 'service.db')).includes('a-secret-token-of-metrics'));
});

test('it is in the trail of a stopped service too, where a changed, removed or cut entry is found', async () => {
  await using scratch = await Scratch.create();
  const trail = new Trail(scratch, join(scratch.root, 'stopped'));
  const key = await workADay(trail);
  const entries = await trail.entries();
  checkDay(entries, key);
  const verify = (...args: string[]): Promise<Finished> => trail.admin('audit', '--verify', ...args);
  assert.throws(() => trail.tamper("UPDATE audit SET entry = '{}' WHERE number = 3"), /append-only/);
  assert.throws(() => trail.tamper('DELETE FROM audit'), /append-only/);
  assert.equal((await verify()).exit, 0);

  const unlocked = 'DROP TRIGGER IF EXISTS audit_is_final; DROP TRIGGER IF EXISTS audit_stays;';
  trail.tamper(`${unlocked} UPDATE audit SET entry = replace(entry, '"amount":5', '"amount":1') WHERE number = 3`);
  const changed = await verify();
  assert.equal(changed.exit, 1);
  assert.match(changed.stdout, /^Entry 3 does not match its hash\. .* the 2 entries before it are intact/);
  const [json] = jsonLines((await trail.admin('audit', '--verify', '--json')).stdout);
  assert.deepEqual(json?.['broken'], { number: 3, why: 'does not match its hash' });
  trail.tamper(`${unlocked} UPDATE audit SET entry = replace(entry, '"amount":1', '"amount":5') WHERE number = 3`);
  assert.equal((await verify()).exit, 0);

  const last = entries.at(-1)?.hash ?? '';
  assert.equal((await verify('--expect', last)).exit, 0);
  trail.tamper(`${unlocked} DELETE FROM audit WHERE number = 8`);
  assert.equal((await verify()).exit, 0, 'a cut end shows only in a hash that was kept');
  const cut = await verify('--expect', last);
  assert.equal(cut.exit, 1);
  assert.match(cut.stdout, /No entry has the expected hash/);
  trail.tamper(`${unlocked} DELETE FROM audit WHERE number = 5`);
  assert.match((await verify()).stdout, /^Entry 5 is missing; the next one is 6\./);
  assert.equal((await verify('--expect', 'abc')).exit, 2);
});

test('commands at the same time leave one unbroken chain, through a service and without one', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve(await scratch.unisolated());
  const running = new Trail(scratch, join(scratch.root, 'service-0'));
  const stopped = new Trail(scratch, join(scratch.root, 'stopped'));
  for (const trail of [running, stopped]) {
    await trail.admin('account', 'add', 'ada');
    const grants = await Promise.all(Array.from({ length: 5 }, () => trail.admin('credits', 'grant', 'ada', '1')));
    const done = grants.filter(({ exit }) => exit === 0).length;
    assert.ok(done > 0);
    if (trail === running) assert.equal(done, 5);
    // Without a service, a command that meets another one at the store is refused, and changes nothing.
    assert.equal((await trail.entries('--verb', 'credits.grant')).length, done);
    const verified = await trail.admin('audit', '--verify');
    assert.equal(verified.exit, 0, verified.stdout);
  }
  assert.ok(service.url);
});
