import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDiskFull } from '../../../../src/core/files/diskSpace.ts';
import { Store } from '../../../../src/service/store/store.ts';
import { smallDisk } from '../../../smallDisk.ts';

// Whatever the machine's pages are worth, everything fits into this many.
const MOST_PAGES = 1_200;
const JOBS = 6;
const GRANTED = 1_000;
const HOLD = 40;
const CHARGED = 7;
const LOG_BYTES = 12_000;

interface Acknowledged {
  state?: 'queued' | 'running' | 'succeeded';
  hasLog?: true;
}

test('a store that finds too little room at any step keeps what it acknowledged, nothing else, and a balanced ledger', async (t) => {
  const small = smallDisk(t);
  if (small === undefined) return;
  let refusals = 0;
  for (let pages = 0; ; pages += 10) {
    assert.ok(pages < MOST_PAGES);
    const folder = join(small.disk, 'store');
    mkdirSync(folder);
    const store = new Store(folder);
    store.addAccount({ id: 'ada', name: 'ada', plan: 'team', createdAt: 0 });
    store.grant('ada', { reference: 'start', amount: GRANTED, at: 0 });
    small.fill();
    small.freePages(pages);
    const acknowledged = new Map<string, Acknowledged>();
    const first = await runJobs(store, 'before', acknowledged);
    small.free();
    const second = await runJobs(store, 'after', acknowledged);
    assert.equal(second, 0, `${pages} pages: once there is room everything is kept`);
    store.dispose();
    assertKept(folder, acknowledged, `${pages} pages`); // and opening a store checks its ledger
    rmSync(folder, { recursive: true });
    if (first === 0) break;
    refusals += 1;
  }
  t.diagnostic(`${refusals} different amounts of room were too little`);
  assert.ok(refusals > 0);
});

/** Takes jobs through their life, as far as the disk allows, and returns how many steps it refused. */
async function runJobs(store: Store, prefix: string, acknowledged: Map<string, Acknowledged>): Promise<number> {
  let refused = 0;
  for (let at = 0; at < JOBS; at += 1) {
    const id = `${prefix}-${at}`;
    const known: Acknowledged = {};
    acknowledged.set(id, known);
    const text = 'x'.repeat(LOG_BYTES);
    const steps: readonly (() => unknown)[] = [
      async () => {
        const job = { id, account: 'ada', machineClass: 'cpu', script: 'a', project: null, maxRuntime: 1 };
        const workspace = { spec: '{}', archive: null, boot: '' };
        const { isAccepted } = await store.submit({ ...job, createdAt: at, hold: HOLD }, [], workspace);
        assert.ok(isAccepted);
        known.state = 'queued';
      },
      () => {
        const job = store.jobs.get(id);
        if (job === undefined) return;
        store.setState(job, 'running', at);
        known.state = 'running';
      },
      async () => {
        if (store.jobs.get(id) === undefined) return;
        await store.appendOutput(id, [{ type: 'log', data: { stream: 'stdout', text } }], text.length);
        known.hasLog = true;
      },
      () => {
        const job = store.jobs.get(id);
        if (job === undefined) return;
        store.finish(job, { state: 'succeeded', finishedAt: at, exitCode: 0, reason: null, charged: CHARGED }, []);
        known.state = 'succeeded';
      },
    ];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        assert.ok(isDiskFull(error), String(error));
        refused += 1;
      }
    }
  }
  return refused;
}

function assertKept(folder: string, acknowledged: ReadonlyMap<string, Acknowledged>, where: string): void {
  const store = new Store(folder);
  let spent = 0;
  let held = 0;
  for (const [id, { state, hasLog }] of acknowledged) {
    const job = store.jobs.get(id);
    assert.equal(job?.state, state, `${where}: ${id}`);
    if (job === undefined) continue;
    if (job.finishedAt === null) held += HOLD;
    else spent += CHARGED;
    const events = store.events.page(job.number, 0, Number.POSITIVE_INFINITY).map(({ type }) => type);
    const expected = [
      'state',
      ...(state === 'queued' ? [] : ['state']),
      ...(hasLog ? ['log'] : []),
      ...(state === 'succeeded' ? ['state', 'end'] : []),
    ];
    // A job whose start was refused goes from queued to its end.
    assert.deepEqual(new Set(events), new Set(expected), `${where}: ${id}`);
    assert.equal(events.filter((type) => type === 'log').length, hasLog ? 1 : 0, `${where}: ${id}`);
  }
  assert.deepEqual(store.balances('ada'), { available: GRANTED - spent - held, held, spent }, where);
  store.dispose();
}
