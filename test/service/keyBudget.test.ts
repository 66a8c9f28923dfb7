import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { pick, randomFrom, TIMES } from '../random.ts';
import { addAccount } from './support/accounts.ts';
import { makeArchive } from './support/archive.ts';
import { GATE } from './support/gate.ts';
import { type JobBody, jobsAtOnce, type ServiceClient, startService } from './support/service.ts';

const FILES = { 'a.sh': 'true' };
const BUDGET = 5;
// As many uploads as the service takes at once.
const CALLS_AT_ONCE = 16;
const ROUNDS = 16 * TIMES;
const GENEROUS = { requests_per_minute: 1_000_000, uploads: 100, queued_jobs: 10_000 };
/** Times and prices that a client invents. */
const FORGED: readonly Record<string, unknown>[] = [
  {},
  { credit_hold: 0, credits_charged: -5, price: 0, credits_per_minute: 0 },
  { unpriced_cpus: 1, unpriced_gpus: 0, machine_class: 'local' },
  { budget: 1e9, key_id: 'other', account: 'local', account_id: 'local' },
  { created_at: '1970-01-01T00:00:00Z', expires_at: '9999-01-01T00:00:00Z', started_at: 0 },
];
const TIME_LIMITS: readonly unknown[] = [60, 600, 1_200, 3_000, 3_001, 0, -600, 0.5, 1e308, '600', null, 2 ** 53];
const FORGED_HEADERS: readonly Record<string, string>[] = [
  {},
  { date: 'Thu, 01 Jan 1970 00:00:00 GMT' },
  { 'x-account': 'local', 'x-farwharf-budget': '1000000' },
];

async function restrictedKey(
  service: ServiceClient,
  input: { budget?: number; scopes?: ('submit' | 'read' | 'cancel')[] },
) {
  using admin = await openAdmin(service.data, { mayCreate: false });
  const { key } = await admin.call('keys.add', { account_id: 'bob', ...input });
  return service.withKey(key);
}

test('a key with a budget never spends more, whatever its client sends in parallel, again, forged or at another time', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(2) });
  const { client: owner } = await addAccount(service, 'bob', { limits: GENEROUS });
  const agent = await restrictedKey(service, { budget: BUDGET });
  const archive = await makeArchive(FILES);
  const random = randomFrom(7);
  const accepted = new Set<string>();
  const statuses = new Map<number, number>();

  const newMeta = () =>
    JSON.stringify({ script: 'a.sh', ...pick(FORGED, random), max_runtime: pick(TIME_LIMITS, random) });
  const repeated = Array.from({ length: 20 }, () => ({ key: randomUUID(), meta: newMeta() }));

  const submit = async (): Promise<void> => {
    const { key, meta } = random() < 0.5 ? (pick(repeated, random) ?? {}) : { key: undefined, meta: undefined };
    // Some repetitions have another body.
    const body = meta !== undefined && random() < 0.8 ? meta : newMeta();
    const headers = { ...pick(FORGED_HEADERS, random), ...(key === undefined ? {} : { 'idempotency-key': key }) };
    const response = await agent.upload(archive, body, headers);
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    const { job_id: id } = (await response.json()) as { job_id: string };
    if (response.status === 201) accepted.add(id);
  };
  const cancel = async (): Promise<void> => {
    const id = pick([...accepted], random);
    if (id !== undefined) await agent.request(`/v1/jobs/${id}`, { method: 'DELETE' });
  };
  const bob = async () => {
    using admin = await openAdmin(service.data, { mayCreate: false });
    return await admin.call('accounts.show', { account_id: 'bob' });
  };

  const now = Date.now();
  t.mock.timers.enable({ apis: ['Date'], now });
  for (let round = 0; round < ROUNDS; round += 1) {
    // The clock of the machine jumps by up to ten days, forwards and backwards.
    t.mock.timers.setTime(now + Math.round((random() - 0.5) * 20 * 86_400_000));
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, () => (random() < 0.85 ? submit() : cancel())));
    const { credits_held: held, credits_spent: spent } = await bob();
    assert.ok(held + spent <= BUDGET, `${held} held and ${spent} spent`);
    const { credits } = await agent.json<{ credits: number }>('/v1/me');
    assert.ok(credits >= 0 && credits <= BUDGET);
  }
  t.mock.timers.reset();
  assert.ok((statuses.get(402) ?? 0) > 0, 'the budget was never reached');
  assert.ok((statuses.get(201) ?? 0) > accepted.size, 'no submission was repeated');
  // 422: the same idempotency key with another body.
  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![201, 400, 402, 409, 422].includes(status)),
    [],
  );

  const ended = await Promise.all([...accepted].map((id) => agent.untilEnd(id)));
  const charged = ended.reduce((sum, job) => sum + Math.round((job.credits_charged ?? 0) * 1e6), 0);
  const { credits_held: held, credits_spent: spent } = await bob();
  assert.equal(held, 0);
  assert.equal(Math.round(spent * 1e6), charged);
  assert.equal((await agent.json<{ credits: number }>('/v1/me')).credits, (BUDGET * 1e6 - charged) / 1e6);
  assert.equal(await owner.credits(), (1_000 * 1e6 - charged) / 1e6);
});

test('the rest of a budget is what a key sees as credits, and 402 says that the key is the limit', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(1) });
  const { client: owner } = await addAccount(service, 'bob');
  const agent = await restrictedKey(service, { budget: BUDGET });
  const job = await agent.submit({ 'a.sh': GATE }, { script: 'a.sh', max_runtime: 2_400 });
  const me = await agent.json<{ credits: number; key: { budget: number; scopes: unknown } }>('/v1/me');
  assert.deepEqual([me.credits, me.key.budget, me.key.scopes], [1, BUDGET, null]);
  const refused = await agent.send(FILES, { script: 'a.sh', max_runtime: 660 });
  assert.equal(refused.status, 402);
  assert.match(
    ((await refused.json()) as { detail: string }).detail,
    /needs 1\.1 credits .* only 1 of the budget of this API key are left/,
  );
  assert.equal(await owner.credits(), 996);
  await owner.submit(FILES, { script: 'a.sh', max_runtime: 660 });
  await agent.request(`/v1/jobs/${job}`, { method: 'DELETE' });
  await agent.untilEnd(job);
  const next = await agent.send(FILES, { script: 'a.sh', max_runtime: 660 });
  assert.equal(next.status, 201);
});

test('a key does what its scopes say, and 403 names the missing one', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(1) });
  const { client: owner } = await addAccount(service, 'bob');
  const [reads, submits, cancels] = await Promise.all(
    (['read', 'submit', 'cancel'] as const).map((scope) => restrictedKey(service, { scopes: [scope] })),
  );
  assert.ok(reads && submits && cancels);
  const others = await owner.submit({ 'a.sh': GATE }, { script: 'a.sh' });
  const own = await submits.submit(FILES, { script: 'a.sh' });
  const refused: readonly [ServiceClient, string, string, RequestInit?][] = [
    [reads, '/v1/jobs', 'submit', { method: 'POST' }],
    [reads, `/v1/jobs/${own}`, 'cancel', { method: 'DELETE' }],
    [submits, `/v1/jobs/${others}`, 'cancel', { method: 'DELETE' }],
    [submits, '/v1/jobs', 'read'],
    [submits, `/v1/jobs/${own}`, 'read'],
    [submits, `/v1/jobs/${own}/events`, 'read'],
    [submits, `/v1/jobs/${own}/artifacts`, 'read'],
    [cancels, `/v1/jobs/${own}`, 'read'],
    [cancels, '/v1/submissions/abc', 'submit'],
  ];
  for (const [client, path, scope, init] of refused) {
    const response = await client.request(path, init);
    assert.equal(response.status, 403, path);
    assert.match(((await response.json()) as { detail: string }).detail, new RegExp(`the scope "${scope}"`));
  }
  for (const client of [reads, submits, cancels]) assert.equal((await client.request('/v1/me')).status, 200);
  assert.equal((await reads.json<JobBody>(`/v1/jobs/${own}`)).state, 'queued');
  assert.equal((await submits.request(`/v1/jobs/${own}`, { method: 'DELETE' })).status, 200);
  assert.equal((await cancels.request(`/v1/jobs/${others}`, { method: 'DELETE' })).status, 200);
});
