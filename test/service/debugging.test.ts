import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RemoteClient } from '../../src/remote/client.ts';
import { readClaim } from '../../src/service/jobFiles/markers.ts';
import { jobFolder } from '../../src/service/jobFiles/jobFolder.ts';
import type { MachineClass } from '../../src/service/config/machineClasses.ts';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { DebugClient, fieldsOf, listOf } from '../unit/jobs/debug/debugClient.ts';
import { InspectorTestClient } from '../unit/jobs/debug/inspectorClient.ts';
import { type DebugJob, framesOf, hasDebugpy, NO_DEBUGPY, start, untilFrozen } from './support/frozenJobs.ts';
import { isolationIsMissing } from './support/isolation.ts';
import { processesWith } from './support/processes.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

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
const PRICE = 6;
const FROZEN_PRICE = 0.6;
const CLASS: MachineClass = {
  name: 'cpu',
  description: '',
  cpus: 1,
  memory_gb: 2,
  gpus: 0,
  credits_per_minute: PRICE,
  frozen_credits_per_minute: FROZEN_PRICE,
};

const missing = await isolationIsMissing();
// What is the same with and without a sandbox is tested where there is more on the way.
const COMMON = missing === undefined ? 'bubblewrap' : 'none';
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
      service = await startService(context as never, {
        config: {
          ...testConfig({ isolation, max_jobs: 8 }),
          machine_classes: [CLASS],
        },
      });
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
        const threads = listOf((await debug.request('threads'))['threads']);
        assert.deepEqual(
          threads.map(({ name }) => name),
          ['MainThread'],
          'only threads of the job',
        );
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
      assert.deepEqual(
        readdirSync(tmpdir()).filter((name) => name.includes(id)),
        [],
      );
      const freezes = (await service.events(id)).filter(({ event }) => event === 'freeze');
      assert.deepEqual(
        freezes.map(({ data }) => data['frozen'] !== null),
        [true, false],
      );
    });

    if (isolation === COMMON)
      test('a frozen job waits longer or ends as its owner asks, and the credits for that are held', async () => {
        const before = await service.credits();
        const id = await submit(TRAIN, { hold: 60 });
        const { until } = await untilFrozen(service, id);
        const held = (await service.job(id)).credit_hold;
        const post = (body: object) =>
          service.request(`/v1/jobs/${id}/freeze`, { method: 'POST', body: JSON.stringify(body) });
        assert.equal((await post({ seconds: 0 })).status, 400);
        assert.equal((await post({ seconds: 3_600 })).status, 409); // more than the service allows
        // Keys that may not connect, or only to what was submitted with them.
        using admin = await openAdmin(service.data, { mayCreate: false });
        for (const [scopes, message] of [
          [['submit', 'read', 'cancel', 'secrets'], /scope "connect"/],
          [['submit', 'read', 'connect'], /submitted with it/],
        ] as const) {
          const { key } = await admin.call('keys.add', { account_id: 'local', scopes: [...scopes] });
          await using limited = new RemoteClient(service.url, key);
          await assert.rejects(limited.extendFreeze(id, 60), { status: 403, message });
          await assert.rejects(limited.endFreeze(id), { status: 403, message });
          await assert.rejects(limited.connectJob(id), { status: 403, message });
        }
        const longer = await client.extendFreeze(id, 60);
        assert.equal(longer['credit_hold'], held + (60 * FROZEN_PRICE) / 60);
        let now = await untilFrozen(service, id);
        for (; now.until === until; now = await untilFrozen(service, id)) await sleep(20);
        assert.equal(Date.parse(now.until) - Date.parse(until), 60_000);
        await client.endFreeze(id);
        const ended = await service.untilEnd(id);
        assert.deepEqual([ended.state, ended.exit_code], ['failed', 1]);
        assert.equal((await post({ seconds: 60 })).status, 409);
        const charged = Number(ended.credits_charged);
        assert.ok(charged > 0 && charged < ended.credit_hold, `${charged} of ${ended.credit_hold}`);
        assert.ok(Math.abs(before - charged - (await service.credits())) < 1e-6);
      });

    if (isolation === COMMON)
      test('when the hold time is over, the job continues by itself, and its frozen time has its own price', async () => {
        const id = await service.submit(
          { 'train.py': `import time\nbreakpoint()\ntime.sleep(1)\nprint('after', flush=True)\n` },
          { script: 'train.py', debug: { hold: 4 } },
        );
        const { reason, line } = await untilFrozen(service, id);
        assert.deepEqual([reason, line], ['breakpoint', 2]);
        const {
          state,
          credits_charged: charged,
          started_at: started,
          finished_at: finished,
        } = await service.untilEnd(id);
        assert.equal(state, 'succeeded');
        assert.match(await service.output(id), /after/);
        const seconds = (Date.parse(finished ?? '') - Date.parse(started ?? '')) / 1000;
        const most = ((seconds - 3.5) * PRICE + 3.5 * FROZEN_PRICE) / 60;
        assert.ok(seconds >= 5 && Number(charged) <= most, `${charged} of ${most} for ${seconds} seconds`);
      });

    test('of several processes, the first that fails waits and the others are stopped, then each ends as it would have', async () => {
      const script = `import multiprocessing, time
def work(rank):
    if rank == 1:
        time.sleep(0.3)
        raise ValueError('rank', rank)
    for n in range(10_000):
        open('count.txt', 'w').write(str(n))
        time.sleep(0.01)
        if n > 100: return
if __name__ == '__main__':
    workers = [multiprocessing.get_context('spawn').Process(target=work, args=(n,)) for n in range(2)]
    for each in workers: each.start()
    for each in workers: each.join()
    print([each.exitcode for each in workers], flush=True)
`;
      const id = await submit(script);
      const { process, error, line } = await untilFrozen(service, id);
      assert.deepEqual([error, line], ['ValueError', 5]);
      const tunnel = await client.connectJob(id);
      const { processes } = await tunnel.debugProcesses();
      const states = processes.map((each) => [each.process === process, each.state]);
      assert.ok(states.length >= 3, JSON.stringify(processes));
      for (const [isFrozen, state] of states) assert.equal(state, isFrozen === true ? 'running' : 'stopped');
      const other = processes.find((each) => each.state === 'stopped');
      await assert.rejects(tunnel.debug(other?.process ?? 0), /stopped, because the job waits/);
      await assert.rejects(tunnel.debug(99_999), /no such process/);
      tunnel[Symbol.dispose]();
      const debug = await attach(id, process);
      const { threadId } = await start(debug);
      const { lines, variables } = await framesOf(debug, threadId);
      assert.deepEqual([lines[0], variables['rank']], [5, '1']);
      debug.close();
      await client.endFreeze(id);
      assert.equal((await service.untilEnd(id)).state, 'succeeded');
      assert.match(await service.output(id), /\[0, 1\]/);
      assert.match(await service.output(id, 'stderr'), /ValueError: \('rank', 1\)/);
    });

    if (isolation === COMMON)
      test('a job is frozen just before its time limit if it asks for that, in its first rank, and ends as timed out', async () => {
        const script = `import os, subprocess, sys, time
if 'RANK' not in os.environ:
    ranks = [subprocess.Popen([sys.executable, __file__], env={**os.environ, 'RANK': str(n)}) for n in (1, 0)]
    for each in ranks: each.wait()
total = 0
while True:
    total += 1
`;
        const id = await service.submit(
          { 'train.py': script },
          { script: 'train.py', max_runtime: 5, debug: { hold: 120, limit: true } },
        );
        const { process, reason, rank, line } = await untilFrozen(service, id);
        assert.deepEqual([reason, rank, line === 6 || line === 7], ['limit', 0, true]);
        const debug = await attach(id, process);
        const { threadId } = await start(debug);
        const { lines, variables } = await framesOf(debug, threadId);
        assert.ok(lines.length === 1 && Number(variables['total']) > 0, JSON.stringify([lines, variables]));
        await debug.request('continue', { threadId });
        const ended = await service.untilEnd(id);
        assert.deepEqual([ended.state, ended.exit_code], ['timed_out', null]);
        const events = (await service.events(id)).filter(({ event }) => event === 'freeze');
        assert.equal(events.length, 2);
      });

    test('a job that waits at its start stops at a breakpoint of the first client, and where it fails while that is there', async () => {
      const id = await submit(`rate = 5\nprint(rate * 2, flush=True)\n{}[rate]\n`, { hold: 60, wait: true });
      const { process, reason } = await untilFrozen(service, id);
      assert.equal(reason, 'start');
      const tunnel = await client.connectJob(id);
      const { folder } = await tunnel.debugProcesses();
      const debug = new DebugClient(await tunnel.debug(process));
      const { threadId } = await start(debug, { [`${folder}/train.py`]: [2] });
      const { lines, variables } = await framesOf(debug, threadId);
      assert.deepEqual([lines[0], variables['rate']], [2, '5']);
      await debug.request('continue', { threadId });
      const failure = await debug.event('stopped');
      assert.equal(failure['reason'], 'exception');
      assert.deepEqual((await framesOf(debug, failure['threadId'])).lines, [3]);
      while ((await untilFrozen(service, id)).reason !== 'failure') await sleep(20);
      await debug.request('continue', { threadId });
      assert.equal((await service.untilEnd(id)).state, 'failed');
      tunnel[Symbol.dispose]();
    });

    test('a failure of Node.js waits with its variables for one debugger after the other, and ends as without one', async () => {
      const script = `import { spawn } from 'node:child_process';
const other = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)']);
await new Promise((resolve) => other.stdout.once('data', resolve));
async function step(n, config) {
  await null;
  return n > 3 ? config.rates[n].lr : 1;
}
try { JSON.parse('no JSON'); } catch {}
console.log('begins');
try {
  for (let n = 0; n < 10; n += 1) await step(n, { rates: [] });
} finally {
  other.kill();
}
`;
      const submitted = { script: 'train.mjs' };
      const plain = await service.submit({ 'train.mjs': script }, submitted);
      const id = await service.submit({ 'train.mjs': script }, { ...submitted, debug: { hold: 120 } });
      const { process, since: _1, until: _2, ...place } = await untilFrozen(service, id);
      assert.deepEqual(place, {
        language: 'node',
        reason: 'failure',
        file: 'train.mjs',
        line: 6,
        error: 'TypeError',
        message: "Cannot read properties of undefined (reading 'lr')",
      });
      using tunnel = await client.connectJob(id);
      const { processes } = await tunnel.debugProcesses();
      const states = processes.map((each) => [each.process === process, each.language, each.state]);
      const isFirst = processes[0]?.process === process;
      const both = [
        [true, 'node', 'running'],
        [false, 'node', 'stopped'],
      ];
      assert.deepEqual(states, isFirst ? both : both.toReversed());
      for (const way of ['lost', 'continue'] as const) {
        const inspector = new InspectorTestClient(await tunnel.debug(process));
        await inspector.request('Runtime.enable');
        await inspector.request('Debugger.enable');
        const paused = await inspector.event('Debugger.paused');
        assert.equal(paused['reason'], 'other'); // editors that stop at no errors would continue
        assert.match(String(fieldsOf(paused['data'])['description']), /^TypeError: Cannot read/);
        const [frame = {}] = listOf(paused['callFrames']);
        const { functionName, location, callFrameId } = frame;
        assert.deepEqual([functionName, fieldsOf(location)['lineNumber']], ['step', 5]);
        const evaluated = await inspector.request('Debugger.evaluateOnCallFrame', { callFrameId, expression: 'n' });
        assert.equal(fieldsOf(evaluated['result'])['value'], 4);
        if (way === 'continue') await inspector.request('Debugger.resume');
        inspector.close();
      }
      const [ended, without] = await Promise.all([service.untilEnd(id), service.untilEnd(plain)]);
      assert.deepEqual([ended.state, ended.exit_code], [without.state, without.exit_code]);
      assert.equal(await service.output(id), await service.output(plain));
      assert.match(await service.output(id, 'stderr'), /TypeError: Cannot read properties/);
    });

    if (isolation === COMMON)
      test('a job of Node.js that waits at its start stops at a breakpoint, and at a debugger statement without a client', async () => {
        const script = `const rate = 5;\nconsole.log(rate * 2);\nsetTimeout(() => {\n  debugger;\n  console.log('after');\n}, 300);\n`;
        const wanted = { script: 'train.cjs', debug: { hold: 60, wait: true } };
        const id = await service.submit({ 'train.cjs': script }, wanted);
        const { process, reason } = await untilFrozen(service, id);
        assert.equal(reason, 'start');
        using tunnel = await client.connectJob(id);
        const { folder } = await tunnel.debugProcesses();
        const inspector = new InspectorTestClient(await tunnel.debug(process));
        await inspector.request('Debugger.enable');
        await inspector.request('Debugger.setBreakpointByUrl', { url: `file://${folder}/train.cjs`, lineNumber: 1 });
        await inspector.request('Runtime.runIfWaitingForDebugger');
        const [frame = {}] = listOf((await inspector.event('Debugger.paused'))['callFrames']);
        assert.equal(fieldsOf(frame['location'])['lineNumber'], 1);
        const { callFrameId } = frame;
        const evaluated = await inspector.request('Debugger.evaluateOnCallFrame', { callFrameId, expression: 'rate' });
        assert.equal(fieldsOf(evaluated['result'])['value'], 5);
        inspector.close(); // and the program continues
        let now = await untilFrozen(service, id);
        for (; now.reason === 'start'; now = await untilFrozen(service, id)) await sleep(20);
        assert.deepEqual([now.reason, now.file, now.line], ['breakpoint', 'train.cjs', 4]);
        await client.endFreeze(id);
        assert.equal((await service.untilEnd(id)).state, 'succeeded');
        assert.match(await service.output(id), /10\nafter/);
      });

    if (isolation === COMMON)
      test('what a job reports of itself is checked and cleaned, and lengthens nothing', async () => {
        const forge = `import json, os, socket, sys
def say(text):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ['FARWHARF_DEBUG'] + '/runner')
    try: s.sendall(text)
    except OSError: pass
    return s
kept = [say(b'x' * 1_000_000 + b'\\n'), say(b'{}\\n'), say(b'\\xff\\n')]
place = {'process': 1234567, 'language': 'python', 'reason': 'failure', 'file': 'a', 'line': 1, 'error': 'E', 'message': 'm'}
kept.append(say(json.dumps(place).encode() + b'\\n'))
place.update(process=os.getpid(), message='\\x1b[2J\\u202ehidden\\nnext', file='/etc/../etc/passwd', until='2999-01-01')
last = say(json.dumps(place).encode() + b'\\n')
while last.recv(100): pass
print('continued', flush=True)
`;
        const id = await submit(forge, { hold: 1 });
        const { message, since, until } = await untilFrozen(service, id);
        assert.equal(message, 'hidden next');
        assert.equal(Date.parse(until) - Date.parse(since), 1_000);
        assert.equal((await service.untilEnd(id)).state, 'succeeded');
      });
  });
}

test('a killed service and a killed runner change neither how long frozen jobs wait nor what they cost', {
  skip: !hasDebugpy && NO_DEBUGPY,
}, async (t) => {
  const home = await temporaryFolder(t);
  const config = { ...testConfig({ max_jobs: 4 }), machine_classes: [CLASS] };
  const start = async (): Promise<ServiceProcess> => {
    const service = await ServiceProcess.start(home, { config });
    t.after(() => service.end('SIGKILL'));
    return service;
  };
  const first = await start();
  const before = await first.client.credits();
  const submit = () => first.client.submit({ 'train.py': TRAIN }, { script: 'train.py', debug: { hold: 120 } });
  const [kept, lost] = [await submit(), await submit()];
  const [frozen, other] = [await untilFrozen(first.client, kept), await untilFrozen(first.client, lost)];
  const runner = await readClaim(jobFolder(join(first.client.data, 'jobs', lost)).claim);
  await first.end('SIGKILL');
  process.kill(runner?.pid ?? 0, 'SIGKILL');
  const { client: service } = await start();
  await using client = new RemoteClient(service.url, service.key);
  assert.deepEqual(await untilFrozen(service, kept), frozen);
  await client.extendFreeze(kept, 60);
  let now = await untilFrozen(service, kept);
  for (; now.until === frozen.until; now = await untilFrozen(service, kept)) await sleep(20);
  assert.deepEqual([now.since, Date.parse(now.until) - Date.parse(frozen.until)], [frozen.since, 60_000]);
  await client.endFreeze(kept);
  const [ended, gone] = [await service.untilEnd(kept), await service.untilEnd(lost)];
  assert.deepEqual([ended.state, ended.exit_code, gone.state], ['failed', 1, 'lost']);
  const seconds = (since: unknown, until: unknown): number =>
    (Date.parse(String(until)) - Date.parse(String(since))) / 1000;
  const events = (await service.events(kept)).filter(({ event }) => event === 'freeze');
  const { at: thawed } = events.at(-1)?.data ?? {};
  // The runner's clock and the times of the events differ by milliseconds.
  const least = seconds(ended.started_at, frozen.since) * PRICE + seconds(frozen.since, thawed) * FROZEN_PRICE;
  const most = seconds(ended.started_at, ended.finished_at) * PRICE;
  const charged = 60 * Number(ended.credits_charged);
  assert.ok(charged > least - 0.1 * PRICE && charged < most, `${charged} between ${least} and ${most}`);
  // Its runner could not say more than that it was frozen.
  const mostLost =
    seconds(gone.started_at, other.since) * PRICE + seconds(other.since, gone.finished_at) * FROZEN_PRICE;
  const chargedLost = 60 * Number(gone.credits_charged);
  assert.ok(chargedLost < mostLost + 0.1 * PRICE, `${chargedLost} is over ${mostLost}`);
  assert.ok(Math.abs(before - (charged + chargedLost) / 60 - (await service.credits())) < 1e-6);
  assert.deepEqual(processesWith(lost), []);
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => name.includes(kept) || name.includes(lost)),
    [],
  );
});
