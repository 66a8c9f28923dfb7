import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RemoteClient } from '../../src/remote/client.ts';
import type { Frozen } from '../../src/remote/protocol/debugging.ts';
import { DebugClient, fieldsOf, listOf } from '../unit/jobs/debug/debugClient.ts';
import { isolationIsMissing } from './support/isolation.ts';
import { type JobBody, type ServiceClient, startService, testConfig } from './support/service.ts';

type DebugJob = JobBody & { readonly frozen: Frozen | null };

const TRAIN = `import sys
def step(n, config):
    rate = config['lr'] if n > 3 else 1
    return rate * n
def main():
    config = {'momentum': 0.9}
    for n in range(10):
        step(n, config)
print('begins', flush=True)
main()
`;
const hasDebugpy = spawnSync('python3', ['-c', 'import debugpy']).status === 0;
const NO_DEBUGPY = 'NO DEBUGPY: install python3-debugpy to test debugging';

/** Attaches as an editor does. @returns the ID and the reason of the thread that stops. */
async function start(debug: DebugClient): Promise<{ readonly threadId: unknown; readonly reason: unknown }> {
  await debug.request('initialize', { adapterID: 'test', pathFormat: 'path' });
  const attached = debug.request('attach', { justMyCode: true });
  await debug.event('initialized');
  await debug.request('configurationDone');
  await attached;
  const { threadId, reason } = await debug.event('stopped');
  return { threadId, reason };
}

/** The lines of a stopped thread, the innermost first, and the variables there. */
async function framesOf(debug: DebugClient, threadId: unknown) {
  const frames = listOf((await debug.request('stackTrace', { threadId }))['stackFrames']);
  const [scope = {}] = listOf((await debug.request('scopes', { frameId: frames[0]?.['id'] }))['scopes']);
  const { variablesReference } = scope;
  const variables = listOf((await debug.request('variables', { variablesReference }))['variables']);
  return {
    lines: frames.map(({ line }) => line),
    path: fieldsOf(frames[0]?.['source'])['path'],
    variables: Object.fromEntries(variables.map(({ name, value }) => [String(name), value])),
  };
}

async function untilFrozen(service: ServiceClient, id: string): Promise<Frozen> {
  for (;;) {
    const job = (await service.job(id)) as DebugJob;
    if (job.frozen !== null) return job.frozen;
    assert.equal(job.finished_at, null, `the job has ended: ${job.reason}`);
    await sleep(50);
  }
}

const missing = await isolationIsMissing();
for (const isolation of ['none', 'bubblewrap'] as const) {
  const isSkipped =
    (!hasDebugpy && NO_DEBUGPY) || (isolation === 'bubblewrap' && missing !== undefined && `NO ISOLATION: ${missing}`);
  suite(`debugging a job with isolation = "${isolation}"`, { skip: isSkipped }, () => {
    let service: ServiceClient;
    let release: () => Promise<void>;
    let client: RemoteClient;

    before(async () => {
      const releases: (() => unknown)[] = [];
      const context = { after: (work: () => unknown) => void releases.push(work) };
      release = async () => {
        for (const work of releases.toReversed()) await work();
      };
      service = await startService(context as never, { config: testConfig({ isolation, max_jobs: 8 }) });
      client = new RemoteClient(service.url, service.key);
    });

    after(async () => {
      await client.close();
      await release();
    });

    const submit = (script: string, debug: object = { hold: 120 }, more: Record<string, string> = {}) =>
      service.submit({ 'train.py': script, ...more }, { script: 'train.py', debug });

    async function attach(id: string, process: number): Promise<DebugClient> {
      const tunnel = await client.connectJob(id);
      const stream = await tunnel.debug(process);
      stream.once('close', () => tunnel[Symbol.dispose]());
      return new DebugClient(stream);
    }

    test('a failure waits, shows its frames to one debugger after the other, and ends as without one', async () => {
      const plain = await service.submit({ 'train.py': TRAIN }, { script: 'train.py' });
      const id = await submit(TRAIN);
      const { process, since, until, ...place } = await untilFrozen(service, id);
      assert.deepEqual(place, {
        language: 'python',
        reason: 'failure',
        file: 'train.py',
        line: 3,
        error: 'KeyError',
        message: "'lr'",
      });
      assert.equal(Date.parse(until) - Date.parse(since), 120_000);
      // Lost, detached, and continued.
      for (const way of ['lost', 'disconnect', 'continue'] as const) {
        const debug = await attach(id, process);
        const { threadId, reason } = await start(debug);
        assert.equal(reason, 'exception');
        const { lines, variables } = await framesOf(debug, threadId);
        assert.deepEqual([lines, variables['n'], variables['config']], [[3, 8, 10], '4', "{'momentum': 0.9}"]);
        if (way === 'disconnect') await debug.request('disconnect', { terminateDebuggee: false });
        if (way === 'continue') await debug.request('continue', { threadId });
        debug.close();
      }
      const [ended, other] = await Promise.all([service.untilEnd(id), service.untilEnd(plain)]);
      assert.deepEqual([ended.state, ended.exit_code], [other.state, other.exit_code]);
      assert.equal((ended as DebugJob).frozen, null);
      const names = /job-?\S*|\/\S*\//g;
      const output = async (job: string) => (await service.output(job, 'stderr')).replaceAll(names, '');
      assert.equal(await output(id), await output(plain));
      const artifacts = async (job: string) =>
        (await service.events(job)).filter(({ event }) => event === 'artifact').map(({ data }) => data['path']);
      assert.deepEqual(await artifacts(id), await artifacts(plain));
      assert.equal(existsSync(`${tmpdir()}/farwharf-debug-${id}`), false);
      const freezes = (await service.events(id)).filter(({ event }) => event === 'freeze');
      assert.deepEqual(
        freezes.map(({ data }) => data['frozen'] !== null),
        [true, false],
      );
    });
  });
}
