// A job that tries to reach what is not its own: isolated by bubblewrap, and on a cluster as the user of its account. It runs for some
// seconds, and with FARWHARF_TEST_TIMES=150 for ten minutes.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { TIMES } from '../random.ts';
import { addAccount } from './support/accounts.ts';
import { GATE, openGate } from './support/gate.ts';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { type ServiceClient, startService, testConfig } from './support/service.ts';
import { describeOnCluster } from './support/slurm.ts';
import { SlurmPersons } from './support/slurmPersons.ts';
import { SystemUsers } from './support/systemUsers.ts';

const SECONDS = 4 * TIMES;
const ATTACK = readFileSync(join(import.meta.dirname, 'support/attack.ts'), 'utf8');
const METRICS = { enabled: true, token: 'a-token-for-those-who-watch' };

interface Site {
  readonly service: ServiceClient;
  /** Where the service has its store and the files of jobs. */
  readonly folders: readonly string[];
}

interface Outcome {
  readonly output: string;
  /** The other account's job, which waits at its gate. */
  readonly victim: string;
}

/** Runs the attack beside another account's job, and checks that it reached nothing, and that the job noticed nothing. */
async function withstand(t: TestContext, site: Site): Promise<void> {
  const { service, folders } = site;
  const { output, victim } = await attack(t, site, { seconds: SECONDS, isGentle: false });
  assert.doesNotMatch(output, /REACHED/);
  assert.equal((await service.job(victim)).state, 'running');
  await openGate(folders[0] ?? '', victim);
  assert.equal((await service.untilEnd(victim)).state, 'succeeded');
  assert.equal((await service.request('/healthz')).status, 200);
}

async function attack(
  t: TestContext,
  { service, folders }: Site,
  how: { readonly seconds: number; readonly isGentle: boolean },
): Promise<Outcome> {
  const canary = `CANARY-${randomBytes(8).toString('hex')}`;
  const [data = ''] = folders;
  const file = join(data, 'canary');
  writeFileSync(file, canary, { mode: 0o600 });
  const { uid, gid } = statSync(data);
  chownSync(file, uid, gid);
  const { client: attacker } = await addAccount(service, 'bob');
  const secret = { method: 'PUT', body: JSON.stringify({ value: canary }) };
  assert.equal((await service.request('/v1/secrets/CANARY', secret)).status, 200);
  const script = `cp canary artifacts/copy; echo begun; ${GATE}; cat canary`;
  const meta = { script: 'a.sh', secrets: ['CANARY'], max_runtime: SECONDS + 600 };
  const victim = await service.submit({ 'a.sh': script, canary }, meta);
  await service.untilRunning(victim);
  const started = join(folders.at(-1) ?? '', 'jobs', victim, 'started.json');
  const { pid } = JSON.parse(readFileSync(started, 'utf8')) as { pid: number };
  const credits = await attacker.credits();
  const targets = JSON.stringify({ ...how, folders, url: service.url, victim, victimPids: [pid] });
  const id = await attacker.submit(
    { 'attack.ts': ATTACK },
    { script: `attack.ts '${targets}'`, max_runtime: SECONDS + 600 },
  );
  const job = await attacker.untilEnd(id);
  const [output, errors] = [await attacker.output(id), await attacker.output(id, 'stderr')];
  t.diagnostic(output);
  assert.equal(job.state, 'succeeded', `${job.reason} ${errors.slice(-2_000)}`);
  assert.match(output, /^tried /m);
  assert.ok(Math.abs((await attacker.credits()) + (job.credits_charged ?? Number.NaN) - credits) < 1e-6);
  return { output, victim };
}

test('the attack reaches the store and other jobs where nothing isolates jobs, so that it would be noticed', async (t) => {
  const service = await startService(t, { config: testConfig({ isolation: 'none', max_jobs: 2 }) });
  const { output } = await attack(t, { service, folders: [service.data] }, { seconds: 0, isGentle: true });
  assert.match(output, /^REACHED read .*service\.db$/m);
  assert.match(output, /^REACHED read .*workspace\/canary$/m);
  assert.match(output, /^REACHED wrote .*cancel$/m);
});

const noIsolation = await isolationIsMissing();
describe('a hostile job in bubblewrap', () => {
  if (noIsolation !== undefined) {
    test('is not tested here', (t) => t.skip(`NO ISOLATION: ${noIsolation}`));
    return;
  }
  isolateJobs();

  test(`reaches nothing but its own in ${SECONDS} s`, async (t) => {
    const service = await startService(t, { config: { ...testConfig({ max_jobs: 2 }), metrics: METRICS } });
    await withstand(t, { service, folders: [service.data] });
  });
});

const noUsers = await SystemUsers.areMissing();
if (noUsers !== undefined) test('a hostile job on a cluster is not tested here', (t) => t.skip(`NO USERS: ${noUsers}`));
else
  await describeOnCluster('a hostile job on a cluster whose jobs have the users of their accounts', (cluster) => {
    let persons: SlurmPersons;
    before(async () => (persons = await SlurmPersons.create(cluster())));
    after(() => persons[Symbol.asyncDispose]());

    test(`reaches nothing but its own in ${SECONDS} s`, async (t) => {
      const setting = await persons.prepare(t, { metrics: METRICS });
      const { client: service } = await persons.start(t, setting);
      await withstand(t, { service, folders: [setting.data, setting.shared] });
    });
  });
