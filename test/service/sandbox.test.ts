import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, readFile, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../src/core/errors.ts';
import { findHierarchies } from '../../src/service/cgroups/hierarchies.ts';
import type { ProcessSettings } from '../../src/service/process/processConfig.ts';
import { describeIsolation, findIsolation, type Isolation } from '../../src/service/process/isolation.ts';
import { hiddenFiles } from '../../src/service/serviceConfig.ts';
import { jobFolder } from '../../src/service/jobFiles/jobFolder.ts';
import { sandboxOptions } from '../../src/service/runner/sandbox.ts';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { processesWith } from './support/processes.ts';
import { type JobBody, type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { PROGRAM, ServiceProcess } from './support/serviceProcess.ts';

function isolationOf(config: ReturnType<typeof testConfig>, data: string): Promise<Isolation> {
  return findIsolation(config.process, { data, hidden: hiddenFiles(config) });
}

const missing = await isolationIsMissing();

/** Runs a shell script as a job to its end. */
async function run(
  service: ServiceClient,
  script: string,
  meta: object = {},
): Promise<{ job: JobBody; output: string }> {
  const id = await service.submit({ 'a.sh': script }, { script: 'a.sh', ...meta });
  const job = await service.untilEnd(id);
  return { job, output: await service.output(id) };
}

describe('a job in bubblewrap', () => {
  if (missing !== undefined) {
    test('is not tested here', (t) => t.skip(`NO ISOLATION: ${missing}`));
    return;
  }
  isolateJobs();

  test('sees nothing of the service, of other jobs, and of the home of the user', async (t) => {
    const secret = join(homedir(), `.farwharf-secret-${process.pid}`);
    await writeFile(secret, 'secret of the home');
    t.after(() => rm(secret, { force: true }));
    process.env['FARWHARF_TEST_SECRET'] = 'secret of the service';
    t.after(() => delete process.env['FARWHARF_TEST_SECRET']);
    const service = await startService(t);
    const other = await service.submit({ 'a.sh': 'echo mine > file; sleep 600' }, { script: 'a.sh' });
    await service.untilRunning(other);
    const { job, output } = await run(
      service,
      `cd "$(dirname "$PWD")"; echo "beside: $(ls | tr '\\n' ' ')"
       echo "data: $(cd ../..; ls | tr '\\n' ' ')"
       cat ${service.data}/service.db ${service.data}/jobs/${other}/workspace/file ${secret} && echo read
       kill -0 ${process.pid} && echo signalled
       cat /proc/*/environ | tr '\\0' '\\n' | grep -c 'secret of' 
       for path in ${service.data}/x ${service.data}/jobs/x /usr/x /etc/x /x; do touch $path && echo "wrote $path"; done
       exit 0`,
    );
    assert.equal(job.state, 'succeeded', job.reason ?? '');
    assert.equal(output, 'beside: workspace \ndata: jobs \n0\n');
    await service.json(`/v1/jobs/${other}`, { method: 'DELETE' });
  });

  test('has a /tmp and a home of its own, which are not the next one’s', async (t) => {
    const service = await startService(t);
    const script = 'ls -A /tmp ~ | grep left; echo left > /tmp/left; echo left > ~/left; cat /tmp/left ~/left';
    for (let jobs = 0; jobs < 2; jobs += 1) assert.equal((await run(service, script)).output, 'left\nleft\n');
  });

  test('has a home of its own also where that of the service is its data folder', async (t) => {
    const data = await temporaryFolder(t);
    const home = process.env['HOME'];
    process.env['HOME'] = data;
    t.after(() => (process.env['HOME'] = home));
    const service = await startService(t, { data });
    const { output } = await run(service, 'echo own > ~/file; cat ~/file; ls -A ~; ls -A ~/jobs');
    assert.match(output, /^own\nfile\njobs\n\w{20}\n$/);
  });

  test('takes with it what left its group and its environment', async (t) => {
    const service = await startService(t);
    const { job } = await run(
      service,
      `env -i setsid sh -c "touch begun; sleep 600.375 & sleep 600.375" > /dev/null 2>&1 &
       while [ ! -e begun ]; do sleep 0.05; done`,
    );
    assert.equal(job.state, 'succeeded');
    assert.deepEqual(processesWith('sleep 600.375'), []);
  });

  test('that is cancelled receives the signal in all its processes, also those without a variable of the service', async (t) => {
    const service = await startService(t, { killGraceMs: 120_000 });
    const script = `exec env -i bash -c 'trap "echo signalled > signalled.txt; exit" TERM; touch begun; while :; do sleep 0.1; done'`;
    const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
    while (!existsSync(join(service.data, 'jobs', id, 'workspace', 'begun'))) await sleep(20);
    await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
    assert.equal((await service.untilEnd(id)).state, 'cancelled');
    assert.match(JSON.stringify(await service.events(id)), /signalled\.txt/);
  });

  test('that never stops forking is ended, and so is all that it forked', async (t) => {
    const service = await startService(t, { config: testConfig({ max_processes: 200 }) });
    // It forks until it is ended, but never has more than some thousand processes: on a busy machine the service needs
    // a while to notice, and other programs must still find room.
    const { job } = await run(
      service,
      `bomb() {
         if [ $1 = 0 ]; then while :; do sleep 0.01; done; fi
         bomb $(($1 - 1)) | sleep 600.625 & bomb $(($1 - 1)) | sleep 600.625
       }
       bomb 8`,
    );
    assert.equal(job.state, 'failed');
    assert.match(job.reason ?? '', /tried to run more than 200 processes and threads/);
    assert.deepEqual(processesWith('sleep 600.625'), []);
  });

  test('has no network where the configuration takes it away', async (t) => {
    const reach = (url: string): string =>
      `fetch('${url}/healthz').then(() => console.log('reached'), () => console.log('not reached'))`;
    for (const [network, expected] of [
      [true, 'reached\n'],
      [false, 'not reached\n'],
    ] as const) {
      const service = await startService(t, { config: testConfig({ network }) });
      const id = await service.submit({ 'a.js': reach(service.url) }, { script: 'a.js' });
      await service.untilEnd(id);
      assert.equal(await service.output(id), expected);
    }
  });

  test('reads and writes the folders that the configuration gives it', async (t) => {
    const shared = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    await writeFile(join(shared, 'data'), 'set');
    const service = await startService(t, { config: testConfig({ read_only: [shared], writable: [cache] }) });
    const { output } = await run(service, `cat ${shared}/data; touch ${shared}/x || touch ${cache}/x; ls ${cache}`);
    assert.equal(output, 'setx\n');
  });

  test('reads of /etc what programs need, and no configuration of a service', async (t) => {
    const service = await startService(t);
    const { output } = await run(service, 'cat /etc/passwd > /dev/null && echo names; ls /etc');
    const [first, ...names] = output.trim().split('\n');
    assert.equal(first, 'names');
    const foreign = names.filter((name) =>
      /^(?:shadow|gshadow|sudoers.*|ssh|cron.*|systemd|farwharf|letsencrypt)$/.test(name),
    );
    assert.deepEqual(foreign, []);
    assert.ok(names.length < (await readdir('/etc')).length);
  });

  test('changes no setting of the kernel, also for a service that is root', async (t) => {
    const service = await startService(t);
    // Written as it is, so that the machine stays the same where it is possible.
    const script = `for f in kernel/core_pattern vm/swappiness kernel/hostname; do
        cat /proc/sys/$f > now; cat now > /proc/sys/$f && echo changed $f
      done 2> /dev/null
      ( : >> /proc/sysrq-trigger ) 2> /dev/null && echo changed sysrq
      cat /proc/sys/kernel/osrelease`;
    const { output } = await run(service, script);
    assert.doesNotMatch(output, /changed/);
    assert.match(output, /^\d+\./);
  });

  test('is not started where something that it sees lies below what jobs can write', async (t) => {
    const cache = await temporaryFolder(t);
    const below = join(cache, 'data-sets');
    await mkdir(below);
    const config = testConfig({ isolation: 'bubblewrap', writable: [cache], read_only: [below] });
    await assert.rejects(isolationOf(config, await temporaryFolder(t)), (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, 'bad-input');
      assert.match(error.message, /data-sets is inside it/);
      return true;
    });
  });

  test('cannot read the key of the certificate, wherever links to it lead', async (t) => {
    const folder = await temporaryFolder(t);
    const key = join(folder, 'key-1.pem');
    const link = join(folder, 'key.pem');
    await writeFile(key, 'secret of the certificate');
    await symlink(key, link);
    const config = { ...testConfig({ read_only: [folder] }), tls: { cert: link, key: link } };
    const data = await temporaryFolder(t);
    const isolation = await isolationOf(config, data);
    assert.ok(isolation.type === 'bubblewrap');
    const own = jobFolder(data);
    for (const each of [own.workspace, own.virtualEnvironment, own.home, own.temporary]) await mkdir(each);
    const inside = sandboxOptions(isolation.sandbox, { ...own, packages: undefined }, { cwd: '/', variables: {} });
    const { status, stdout } = spawnSync(isolation.sandbox.program, [...inside, '--', '/bin/cat', key, link], {
      encoding: 'utf8',
    });
    assert.notEqual(status, null);
    assert.equal(stdout, '');
  });

  test('starts although a file of the system went away meanwhile', async (t) => {
    if (process.getuid?.() !== 0) {
      t.skip('NOT ROOT: nobody else adds and removes files in /etc');
      return;
    }
    const data = await temporaryFolder(t);
    const isolation = await isolationOf(testConfig({ isolation: 'bubblewrap' }), data);
    assert.ok(isolation.type === 'bubblewrap');
    const own = jobFolder(data);
    for (const each of [own.workspace, own.virtualEnvironment, own.home, own.temporary]) await mkdir(each);
    // As ldconfig and package managers have for a moment.
    const passing = `/etc/farwharf-test-${process.pid}-release`;
    await writeFile(passing, '');
    t.after(() => rm(passing, { force: true }));
    const inside = sandboxOptions(isolation.sandbox, { ...own, packages: undefined }, { cwd: '/', variables: {} });
    assert.ok(inside.includes(passing));
    await rm(passing);
    const { status, stderr } = spawnSync(isolation.sandbox.program, [...inside, '--', '/bin/true'], {
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
  });

  test('is prepared while other processes start and end', async (t) => {
    const data = await temporaryFolder(t);
    const isolation = await isolationOf(testConfig({ isolation: 'bubblewrap' }), data);
    assert.ok(isolation.type === 'bubblewrap');
    const others = Array.from({ length: 4 }, () => spawn('sh', ['-c', 'while :; do /bin/true; done']));
    t.after(() => others.forEach((other) => other.kill('SIGKILL')));
    const own = jobFolder(data);
    for (const each of [own.workspace, own.virtualEnvironment, own.home, own.temporary]) await mkdir(each);
    for (let round = 0; round < 300; round += 1)
      sandboxOptions(isolation.sandbox, { ...own, packages: undefined }, { cwd: '/', variables: {} });
  });

  test('of a service that is not root is isolated too', async (t) => {
    const nobody = { uid: 65_534, gid: 65_534 };
    if (process.getuid?.() !== 0) return t.skip('THESE TESTS DO NOT RUN AS ROOT: all the others have shown it');
    if (spawnSync(process.execPath, ['--check', PROGRAM], nobody).status !== 0) {
      return t.skip('NOBODY MAY NOT READ THIS FOLDER');
    }
    const started: { service?: ServiceProcess } = {};
    const home = await temporaryFolder(t, async () => started.service?.end('SIGKILL'));
    await chown(home, nobody.uid, nobody.gid);
    started.service = await ServiceProcess.start(home, { killGraceMs: 120_000 }, nobody);
    const { client } = started.service;
    // The limit is set from outside, before there is a program that the job's variables could reach.
    const env = { LD_PRELOAD: './x.so' };
    const limits = await run(client, 'ulimit -Su; ulimit -Hu', { venv: { env } });
    assert.equal(limits.output, '4096\n4096\n');
    const { job, output } = await run(client, `id -u; ls -A ~; cat ${client.data}/service.db; touch /usr/x; exit 3`);
    assert.deepEqual([job.state, job.exit_code, output], ['failed', 3, '65534\n']);
    // `sleep` may get the signal first, which ends `wait`.
    const stopped = `trap 'echo asked to end; exit' TERM; echo ready; sleep 600.875 & wait; while :; do sleep 0.1; done`;
    // A limit that a slow machine reaches before the script is ready is followed by a longer one.
    for (let limit = 1, isReady = false; !isReady; limit *= 2) {
      const killed = await run(client, stopped, { max_runtime: limit });
      assert.equal(killed.job.state, 'timed_out');
      isReady = killed.output.startsWith('ready');
      if (isReady) assert.equal(killed.output, 'ready\nasked to end\n');
      assert.ok(isReady || limit < 60, killed.output);
    }
    assert.deepEqual(processesWith('sleep 600.875'), []);
  });
});

describe('a job and the limits of its machine class', () => {
  const limited = (t: TestContext, more: Partial<ProcessSettings> = {}): Promise<ServiceClient> =>
    startService(t, { config: { ...testConfig(more), machine_classes: [SMALL] } });

  test('that uses more memory is ended, and its reason says so', { skip: process.platform !== 'linux' }, async (t) => {
    const service = await limited(t);
    const hog = 'const all = []; for (;;) { all.push(Buffer.alloc(50_000_000, 1)); }';
    const id = await service.submit({ 'a.js': hog }, { script: 'a.js' });
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code], ['failed', null]);
    assert.match(
      job.reason ?? '',
      /needed more than 0\.25 GB of memory \(peak [\d.]+ GB\), the limit of the machine class small/,
    );
    const frugal = await service.submit({ 'a.js': 'console.log("fine")' }, { script: 'a.js' });
    assert.equal((await service.untilEnd(frugal)).state, 'succeeded');
  });

  const skip = missing !== undefined;
  test('that fills its /dev/shm beyond its memory is ended, and its reason says so', { skip }, async (t) => {
    const service = await startService(t, { config: { ...testConfig(), machine_classes: [SMALL] } });
    const script = 'head -c 400M /dev/zero > /dev/shm/a; while :; do sleep 0.1; done';
    const { job } = await run(service, script);
    assert.equal(job.state, 'failed');
    assert.match(job.reason ?? '', /needed more than 0\.25 GB of memory \(peak [\d.]+ GB\)/);
  });

  test('that fills files which only the kernel holds is ended by its control group, and its reason says so', async (t) => {
    const mayGroup =
      process.getuid?.() === 0 && findHierarchies().some(({ controllers }) => controllers.includes('memory'));
    const number = { x64: 319, arm64: 279 }[process.arch as string];
    if (!mayGroup || number === undefined) return t.skip('NO CONTROL GROUPS FOR MEMORY');
    const service = await limited(t);
    const fill = `my $n = "m"; open my $f, ">&=", syscall(${number}, $n, 0) or die; $_ = "x" x 1e6; for my $i (1..400) { syswrite $f, $_ } sleep 600`;
    const { job } = await run(service, `exec perl -e '${fill}'`);
    assert.equal(job.state, 'failed');
    assert.match(job.reason ?? '', /needed more than 0\.25 GB of memory \(peak [\d.]+ GB\)/);
  });

  test('that writes a larger file than it may is ended, and its reason says so', async (t) => {
    if (spawnSync('/usr/bin/prlimit', ['--version']).status !== 0) return t.skip('NO prlimit ON THIS MACHINE');
    const service = await limited(t, { max_file_gb: 0.001 });
    const { job } = await run(service, 'exec head -c 5000000 /dev/zero > large');
    assert.equal(job.state, 'failed');
    assert.match(job.reason ?? '', /SIGXFSZ.*file that is larger than this service allows/);
  });

  test('has as many cores as its class', async (t) => {
    if (spawnSync('/usr/bin/taskset', ['--version']).status !== 0) return t.skip('NO taskset ON THIS MACHINE');
    const service = await limited(t);
    assert.equal((await run(service, 'nproc')).output, '1\n');
  });
});

const SMALL = {
  name: 'small',
  description: '',
  credits_per_minute: 1,
  cpus: 1,
  memory_gb: 0.25,
  gpus: 0,
};

describe('the isolation that is in force', () => {
  test('is tried out among the folders of jobs, where the next start removes what a crash leaves', async (t) => {
    if (process.platform !== 'linux') return t.skip('bubblewrap is for Linux');
    await writeFile(join(data, 'bwrap'), `#!/bin/sh\n/bin/ls ${data} ${data}/jobs > ${data}/seen\n`);
    await chmod(join(data, 'bwrap'), 0o755);
    process.env['PATH'] = data;
    const { type } = await isolationOf(testConfig({ isolation: 'auto' }), data);
    assert.equal(type, 'bubblewrap');
    assert.match(await readFile(join(data, 'seen'), 'utf8'), /\njobs\n[^]*\/jobs:\nisolation-/);
    await rm(join(data, 'bwrap'));
  });

  const path = process.env['PATH'];
  let data: string;
  before(async () => {
    data = await mkdtemp(join(tmpdir(), 'farwharf-isolation-'));
  });
  after(async () => {
    process.env['PATH'] = path;
    await rm(data, { recursive: true, force: true });
  });

  test('is none where bubblewrap is not there or does not work, and says what jobs can do then', async () => {
    for (const [text, expected] of [
      [undefined, process.platform === 'linux' ? /NOT isolated.*not installed.*apt-get install bubblewrap/ : /NOT/],
      ['#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n', /NOT isolated.*No permissions/],
    ] as const) {
      if (text !== undefined) {
        await writeFile(join(data, 'bwrap'), text);
        await chmod(join(data, 'bwrap'), 0o755);
      }
      process.env['PATH'] = data;
      const auto = await isolationOf(testConfig({ isolation: 'auto' }), data);
      assert.equal(auto.type, 'none');
      assert.match(describeIsolation(auto), expected);
      await assert.rejects(isolationOf(testConfig({ isolation: 'bubblewrap' }), data), (error: unknown) => {
        assert.ok(error instanceof AppError && error.code === 'missing');
        assert.match(error.message, /Jobs cannot be isolated here: .*isolation = "bubblewrap"/);
        return true;
      });
    }
  });

  test('shows jobs programs of the home, and neither the home nor what lies beside keys, however PATH is written', async (t) => {
    if (process.platform !== 'linux') return t.skip('bubblewrap is for Linux');
    await writeFile(join(data, 'bwrap'), '#!/bin/sh\nexit 0\n');
    await chmod(join(data, 'bwrap'), 0o755);
    const home = homedir();
    const ways = ['/bin', '//bin', '/./bin', '/x/../bin', '/bin/', '/.docker/bin', '//.config/bin', '/tools/bin'];
    process.env['PATH'] = [data, ...ways.map((way) => home + way)].join(':');
    const isolation = await isolationOf(testConfig({ isolation: 'bubblewrap' }), data);
    assert.ok(isolation.type === 'bubblewrap');
    const shown = isolation.sandbox.readOnly.filter((folder) => folder !== process.execPath);
    const expected = ['/bin', '/.docker/bin', '/.docker/lib', '/.config/bin', '/.config/lib', '/tools'];
    assert.deepEqual(shown.toSorted(), expected.map((folder) => home + folder).toSorted());
  });
});
