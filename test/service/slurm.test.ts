import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RemoteClient } from '../../src/remote/client.ts';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { readConfig } from '../../src/service/serviceConfig.ts';
import { DebugClient } from '../unit/jobs/debug/debugClient.ts';
import { Scratch } from './commandLine.ts';
import { stubbornBomb } from './support/bombs.ts';
import { framesOf, hasDebugpy, NO_DEBUGPY, start as startDebugging, untilFrozen } from './support/frozenJobs.ts';
import { processesWith } from './support/processes.ts';
import { type ServiceClient, startService, temporaryFolder } from './support/service.ts';
import { describeOnCluster, onCluster } from './support/slurm.ts';

// As users set it for their own eyes.
process.env['SLURM_TIME_FORMAT'] = 'relative';
await describeOnCluster('a service whose jobs run on a Slurm cluster', (cluster) => {
  const start = (t: TestContext): Promise<ServiceClient> => startService(t, onCluster(cluster()));

  test('a job runs on a node, streams its output, brings its results and is charged by its class', async (t) => {
    const service = await start(t);
    const id = await service.submit(
      {
        'a.sh':
          'echo on $SLURMD_NODENAME in $SLURM_JOB_PARTITION; echo "as $SLURM_JOB_ID" >&2; echo made > artifacts/made.txt; sleep 1.1',
      },
      { script: 'a.sh', machine_class: 'large' },
    );
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code, job.reason], ['succeeded', 0, null]);
    assert.equal(await service.output(id), 'on large1 in cpu-large\n');
    const ranSeconds = ((job.credits_charged ?? 0) / 3) * 60;
    const toldSeconds = (Date.parse(job.finished_at ?? '') - Date.parse(job.started_at ?? '')) / 1000;
    assert.ok(ranSeconds >= 1 && ranSeconds <= toldSeconds + 1, `charged for ${ranSeconds} of ${toldSeconds} s`);
    const states = (await service.events(id)).filter(({ event }) => event === 'state').map(({ data }) => data['state']);
    assert.deepEqual([...new Set(states)], ['queued', 'starting', 'running', 'succeeded']);
    assert.equal((await service.request(`/v1/jobs/${id}/artifacts`)).status, 200);
    using admin = await openAdmin(service.data, { mayCreate: false });
    const { executor_id: number } = await admin.call('jobs.show', { job_id: id });
    assert.match(await service.output(id, 'stderr'), new RegExp(`^as ${number}$`, 'm'));
  });

  test('a command runs on a node without a shell, and only its program is in the comment', async (t) => {
    const service = await start(t);
    const command = [
      'sh',
      '-c',
      'echo "on $SLURMD_NODENAME $1"; scontrol show job $SLURM_JOB_ID | grep Comment; exit 4',
      'x',
      '$(id) a;b',
    ];
    const id = await service.submit({ 'a.txt': '' }, { command });
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code], ['failed', 4], job.reason ?? '');
    const output = await service.output(id);
    assert.match(output, /^on \w+ \$\(id\) a;b$/m);
    assert.match(output, /Comment=\S+.* script=sh\s*$/m);
    const missing = await service.untilEnd(await service.submit({ 'a.txt': '' }, { command: ['no-such-program'] }));
    assert.match(missing.reason ?? '', /^no-such-program was not found on the machine that runs jobs/);
  });

  test('a client connects to a job on its node through a step of it, with nothing lost when that is killed', async (t) => {
    const service = await startService(t, onCluster(cluster()));
    const id = await service.submit({ 'a.sh': 'echo ready; sleep 600' }, { script: 'a.sh', machine_class: 'small' });
    await service.untilOutput(id, /ready/);
    const client = new RemoteClient(service.url, service.key);
    t.after(() => client.close());
    using tunnel = await client.connectJob(id);
    const sent = randomBytes(1_000_000);
    const whole = tunnel.exec(['sh', '-c', 'cat; echo "$FARWHARF_JOB_ID $SLURM_JOB_PARTITION" >&2; exit 4']);
    whole.stdin.end(sent);
    const [received, said] = await Promise.all([buffer(whole.stdout), text(whole.stderr ?? whole.stdout)]);
    assert.ok(received.equals(sent));
    assert.equal(said, `${id} cpu-small\n`);
    assert.equal((await whole.ended).code, 4);
    const echo = tunnel.exec(['cat']);
    const steps = () => processesWith(`${id} --enter`);
    const before = steps();
    assert.ok(before.length > 0);
    echo.stdin.write('before ');
    for (const line of before) process.kill(Number(/^\d+/.exec(line)?.[0]), 'SIGKILL');
    echo.stdin.end('after');
    assert.equal(await text(echo.stdout), 'before after');
    const { stdout: sockets } = tunnel.exec(['cat', '/proc/net/unix']);
    assert.ok((await text(sockets)).includes('tunnel.sock'));
    await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
    assert.equal((await service.untilEnd(id)).state, 'cancelled');
    while (steps().length > 0) await sleep(20);
    await assert.rejects(client.connectJob(id), { status: 409 });
  });

  test('a job waits for a debugger on its node, never longer than its allocation', {
    skip: !hasDebugpy && NO_DEBUGPY,
  }, async (t) => {
    const service = await start(t);
    const client = new RemoteClient(service.url, service.key);
    t.after(() => client.close());
    const script = `config = {'momentum': 0.9}\nprint(config['lr'])\n`;
    const terms = { script: 'train.py', machine_class: 'small', max_runtime: 60, debug: { hold: 60 } };
    const id = await service.submit({ 'train.py': script }, terms);
    const { process, line, until } = await untilFrozen(service, id);
    assert.equal(line, 2);
    // Both of them, and what the runner may take to end it.
    assert.match(await cluster().command('squeue', '-h', '-o', '%l', `--name=${id}`), /^4:00$/m);
    await client.extendFreeze(id, 30);
    await assert.rejects(
      client.extendFreeze(id, 600),
      /never outlives its allocation on the cluster\. At most \d+ (s|min)/,
    );
    let now = await untilFrozen(service, id);
    for (; now.until === until; now = await untilFrozen(service, id)) await sleep(20);
    assert.equal(Date.parse(now.until) - Date.parse(until), 30_000);
    using tunnel = await client.connectJob(id);
    const debug = new DebugClient(await tunnel.debug(process));
    const { threadId } = await startDebugging(debug);
    const { lines, variables } = await framesOf(debug, threadId);
    assert.deepEqual([lines, variables['config']], [[2], "{'momentum': 0.9}"]);
    await debug.request('continue', { threadId });
    const { state, exit_code: code } = await service.untilEnd(id);
    assert.deepEqual([state, code], ['failed', 1]);
    assert.match(await service.output(id, 'stderr'), /KeyError: 'lr'/);
    assert.deepEqual(
      readdirSync(tmpdir()).filter((name) => name.includes(id)),
      [],
    );
  });

  test('what a job uses on its node is in its events', async (t) => {
    const service = await start(t);
    const untilMeasured = `until grep -q '"usage"' ../output.ndjson; do sleep 0.1; done`;
    const id = await service.submit({ 'a.sh': untilMeasured }, { script: 'a.sh' });
    assert.equal((await service.untilEnd(id)).state, 'succeeded');
    const usage = (await service.events(id)).find(({ event }) => event === 'usage');
    assert.ok(Number(usage?.data['memory_bytes']) > 100_000, JSON.stringify(usage));
  });

  test('a job sees the environment of the service, and none of its secrets', async (t) => {
    const secrets = { FARWHARF_API_KEY: 'secret', NODE_OPTIONS: '--no-deprecation', MY_TOKEN: 'secret' };
    Object.assign(process.env, secrets);
    t.after(() => Object.keys(secrets).forEach((name) => delete process.env[name]));
    const service = await start(t);
    const id = await service.submit({ 'a.sh': 'env' }, { script: 'a.sh' });
    assert.equal((await service.untilEnd(id)).state, 'succeeded');
    const output = await service.output(id);
    assert.match(output, new RegExp(`^PATH=${process.env['PATH']}$`, 'm'));
    assert.match(output, /^SLURM_JOB_PARTITION=cpu-small$/m);
    assert.doesNotMatch(output, /secret|NODE_OPTIONS|SLURM_EXPORT_ENV/);
  });

  test('no variable that an account chooses reaches the shell or the runner that start its job', async (t) => {
    const service = await start(t);
    const chosen = [
      'LD_PRELOAD',
      'BASH_ENV',
      'ENV',
      'NODE_OPTIONS',
      'SLURM_CONF',
      'SBATCH_PARTITION',
      'PATH',
      'SHELLOPTS',
    ];
    const env = Object.fromEntries(chosen.map((name) => [name, `/chosen/${name}:/usr/bin:/bin`]));
    const script = `#!/bin/bash
      unset LD_PRELOAD
      pid=$$
      echo "script $(tr '\\0' '\\n' < /proc/$pid/environ | grep -c /chosen/)"
      for ancestor in runner shell; do
        pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status)
        echo "$ancestor $(tr '\\0' '\\n' < /proc/$pid/environ | grep -c /chosen/) $(tr '\\0' ' ' < /proc/$pid/cmdline)"
      done`;
    const id = await service.submit({ 'a.sh': script }, { script: 'a.sh', venv: { env } });
    const { state, reason } = await service.untilEnd(id);
    assert.equal(state, 'succeeded', reason ?? '');
    const output = await service.output(id);
    assert.match(output, new RegExp(`^script ${chosen.length}$`, 'm'));
    assert.match(output, /^runner 0 .*jobRunner/m);
    assert.match(output, /^shell 0 .*slurm_script/m);
  });

  test('the folder of the service may have any name, and Slurm writes beside the job', async (t) => {
    const folders = onCluster(cluster());
    const name = "it's 50%x of $HOME";
    const folder = join(folders.shared, name);
    const config = { ...folders.config, slurm: { ...folders.config.slurm, folder } };
    const service = await startService(t, { config, data: join(folders.data, name) });
    const id = await service.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh' });
    await service.untilRunning(id);
    assert.ok(existsSync(join(folder, 'jobs', id, 'slurm.log')));
    await service.json(`/v1/jobs/${id}`, { method: 'DELETE' });
    await service.stop();
  });

  test('the price list has the classes of the configuration, and an unknown class is refused with their names', async (t) => {
    const service = await start(t);
    const { rate_card: rates } = await service.json<{ rate_card: { machine_class: string }[] }>('/v1/me');
    assert.deepEqual(
      rates.map((rate) => rate.machine_class),
      ['small', 'large', 'nowhere', 'too-wide'],
    );
    const response = await service.send({ 'a.sh': 'true' }, { script: 'a.sh', machine_class: 'a100' });
    assert.equal(response.status, 400);
    assert.match(
      ((await response.json()) as { detail: string }).detail,
      /"a100" does not exist\. Available: small, large/,
    );
  });

  test("jobs count as what the configuration says about their account, and the cluster's tools show whose they are", async (t) => {
    const reserve = ['ReservationName=team', 'Users=root', 'StartTime=now', 'Duration=60', 'Nodes=small1'];
    await cluster().command('scontrol', 'create', 'reservation', ...reserve);
    t.after(() => cluster().command('scontrol', 'delete', 'ReservationName=team'));
    const { config, ...folders } = onCluster(cluster());
    const accounts = { local: { account: 'biology', qos: 'normal', reservation: 'team' } };
    const service = await startService(t, { ...folders, config: { ...config, slurm: { ...config.slurm, accounts } } });
    const script = 'a $(id) 0.sh';
    const shown =
      'squeue -h -j "$SLURM_JOB_ID" -o "%a %v"; scontrol show job "$SLURM_JOB_ID" | grep -o "Comment=.*[^ ]"';
    const id = await service.submit(
      { [script]: shown },
      { script: `'${script}' --token private`, project: 'a study QOS=high' },
    );
    assert.equal((await service.untilEnd(id)).state, 'succeeded');
    assert.equal(
      await service.output(id),
      `biology team\nComment=farwharf:${id} account=local project=a_study_QOS_high script=a___id__0.sh\n`,
    );
  });

  test('farwharf serve --check names an account whose jobs the cluster would refuse', async () => {
    await using scratch = await Scratch.create();
    const { data, config } = onCluster(cluster());
    const accounts = { ada: { reservation: 'no-such-reservation' }, bob: { account: 'biology' } };
    const written = JSON.stringify({ ...config, slurm: { ...config.slurm, accounts } });
    const folder = await scratch.folder('etc', { 'service.json': written });
    const args = ['serve', '--config', join(folder, 'service.json'), '--data', data, '--check', '--json'];
    const { stdout } = await scratch.run(args);
    const { checks } = JSON.parse(stdout) as { checks: { what: string; problem: string | null }[] };
    const own = checks.filter(({ what }) => what.startsWith('account '));
    assert.deepEqual(
      own.map(({ what }) => what),
      ['account ada: jobs with its settings', 'account bob: jobs with its settings'],
    );
    assert.match(own[0]?.problem ?? '', /The cluster refused: .*reservation/i);
    assert.equal(own[1]?.problem, null);
  });

  test('farwharf serve --check names a class that the cluster would never run, and submits nothing', async () => {
    await using scratch = await Scratch.create();
    const { data, config } = onCluster(cluster());
    const folder = await scratch.folder('etc', { 'service.json': JSON.stringify(config) });
    const { exit, stdout, stderr } = await scratch.run([
      'serve',
      '--config',
      join(folder, 'service.json'),
      '--data',
      data,
      '--check',
      '--json',
    ]);
    assert.equal(exit, 1, stderr);
    const { checks } = JSON.parse(stdout) as {
      checks: { what: string; problem: string | null; warning: string | null }[];
    };
    assert.ok(
      checks.some(({ what }) => /NOT isolated.*files of all other jobs/.test(what)),
      stdout,
    );
    const [nowhere, wide, ...others] = checks.filter(({ problem }) => problem !== null);
    assert.deepEqual(nowhere, {
      what: 'machine class nowhere: partition no-such-partition',
      problem: 'the cluster has cpu-small, cpu-large, cpu-spare',
      warning: null,
    });
    assert.equal(wide?.what, 'machine class too-wide: partition cpu-small');
    assert.match(wide?.problem ?? '', /The cluster refused: .*node configuration is not available/);
    assert.deepEqual(others, []);
    for (const partition of ['cpu-small', 'cpu-large']) {
      assert.ok(
        checks.some(({ what }) => what === `jobs of partition ${partition} cannot read the data folder`),
        stdout,
      );
    }
    assert.equal(await cluster().command('squeue', '-h', '-t', 'all', '--name=wrap', '-o', '%i'), '');
  });

  test('a failing script ends with its exit code, and a time limit ends the job to the second', async (t) => {
    const service = await start(t);
    const failing = await service.submit({ 'a.sh': 'exit 7' }, { script: 'a.sh' });
    const endless = await service.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh', max_runtime: 2 });
    const ended = await service.untilEnd(failing);
    assert.deepEqual([ended.state, ended.exit_code], ['failed', 7]);
    const limited = await service.untilEnd(endless);
    assert.equal(limited.state, 'timed_out');
    const seconds = (Date.parse(limited.finished_at ?? '') - Date.parse(limited.started_at ?? '')) / 1000;
    assert.ok(seconds >= 2, `${seconds} s`);
    assert.equal(limited.reason, null, 'the runner ended it, and not the cluster, whose limits are whole minutes');
  });

  test('300 processes in sessions of their own, which ignore signals, end with their job at its limit, and it pays for that', async (t) => {
    if (spawnSync('perl', ['-MPOSIX', '-e1']).status !== 0) return t.skip('NO PERL');
    const service = await start(t);
    for (let limit = 3; ; limit *= 2) {
      assert.ok(limit < 100, 'the processes were not there in time');
      const { script, name } = stubbornBomb(300);
      const id = await service.submit({ 'a.sh': script }, { script: 'a.sh', max_runtime: limit });
      const job = await service.untilEnd(id);
      // The runner ended them, and not the cluster, which does not know what has left the tree of its processes.
      assert.deepEqual([job.state, job.reason], ['timed_out', null]);
      assert.equal(job.credits_charged, limit / 100);
      assert.deepEqual(processesWith(name), []);
      // A limit that a slow machine reaches before all of them run is followed by a longer one.
      if ((await service.output(id)) === 'ready\n') return;
    }
  });

  test('cancelling ends a running job and one that waits in the cluster', async (t) => {
    const service = await start(t);
    const running = await service.submit(
      { 'a.sh': 'echo begun; sleep 600' },
      { script: 'a.sh', machine_class: 'large' },
    );
    await service.untilRunning(running);
    const other = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh', machine_class: 'large' });
    await service.untilRunning(other);
    const waiting = await service.submit({ 'a.sh': 'echo never' }, { script: 'a.sh', machine_class: 'large' });
    // Slurm needs a while to find the reason, and longer on a busy machine.
    const reason =
      /^Waiting in the cluster: (Resources|Priority)\. The cluster expects to start it in about \d+ (min|h|d)[.;]/;
    while (!reason.test((await service.job(waiting)).reason ?? '')) {
      assert.equal((await service.job(waiting)).finished_at, null);
      await sleep(50);
    }
    using admin = await openAdmin(service.data, { mayCreate: false });
    // The one that waits first, because it starts as soon as another has ended.
    for (const id of [waiting, other]) await admin.call('jobs.cancel', { job_id: id, reason: 'maintenance' });
    await service.json(`/v1/jobs/${running}`, { method: 'DELETE' });
    for (const id of [waiting, running, other]) {
      const job = await service.untilEnd(id);
      assert.equal(job.state, 'cancelled', id);
      assert.equal(/^An operator .* cancelled the job: maintenance\./.test(job.reason ?? ''), id !== running, id);
    }
    assert.equal(await service.output(waiting), '');
    // A job has ended for the service when its runner says so, which is a moment before it leaves the queue.
    const queue = (): Promise<string> => cluster().command('squeue', '-h', '-t', 'PENDING,RUNNING', '-o', '%j');
    for (const id of [waiting, running, other]) while ((await queue()).includes(id)) await sleep(50);
  });

  test('a partition that is not there and a class that is too large fail with the words of the cluster', async (t) => {
    const service = await start(t);
    const nowhere = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh', machine_class: 'nowhere' });
    const refused = await service.untilEnd(nowhere);
    assert.equal(refused.state, 'failed');
    assert.match(
      refused.reason ?? '',
      /The cluster refused: .*invalid partition.*\. Choose another machine class than nowhere, or show/i,
    );
    assert.equal(refused.credits_charged, 0);
    const wide = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh', machine_class: 'too-wide' });
    const never = await service.untilEnd(wide);
    assert.deepEqual([never.state, never.credits_charged], ['failed', 0]);
    assert.match(never.reason ?? '', /cluster/);
  });

  test('a job that the cluster cancels says so', async (t) => {
    const service = await start(t);
    const id = await service.submit({ 'a.sh': "trap '' TERM; echo begun; sleep 600" }, { script: 'a.sh' });
    await service.untilRunning(id);
    await cluster().command('scancel', `--name=${id}`);
    const job = await service.untilEnd(id);
    assert.equal(job.state, 'cancelled');
    assert.match(job.reason ?? '', /^The job was cancelled by the cluster or its administrators/);
  });
});

test('a configuration that is not valid names what is wrong', async (t) => {
  const home = await temporaryFolder(t);
  const check = async (text: string, pattern: RegExp): Promise<void> => {
    const path = join(home, 'service.toml');
    await writeFile(path, text);
    await assert.rejects(readConfig(path), pattern);
  };
  await check('executor = "slurm"', /machine_classes: the executor "slurm" needs at least one/);
  await check('executor = "slurm"', /slurm.folder: .* write {2}folder = "\/shared\/farwharf" {2}below \[slurm\]/);
  await check('executor = "pbs"', /executor: /);
  await check('executor = ', /Line 1/);
  const one = '[[machine_classes]]\nname = "a"\ncredits_per_minute = 1\n';
  await check(
    `executor = "slurm"\n${one}sbatch = ["--array=1-9"]`,
    /machine_classes.0.sbatch.0: must not contain "--array=1-9", which the service itself sets/,
  );
  await check(one + one, /"a" is there twice/);
  await check(`${one}partition = "p"`, /machine_classes.0: Unrecognized key: "partition"/);
  await check(`${one}gpu = 1`, /gpu/);
});
