import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldOf } from '../../src/core/jsonFields.ts';
import { RemoteClient } from '../../src/remote/client.ts';
import { DEBUG_FEATURE } from '../../src/remote/protocol/debugging.ts';
import type { CommandEnd, RunningCommand, JobTunnelClient } from '../../src/remote/tunnel/jobTunnelClient.ts';
import { forwardPort } from '../../src/remote/tunnel/forwardPort.ts';
import { CONNECT_FEATURE, TUNNEL_CHANNELS } from '../../src/remote/tunnel/tunnelProtocol.ts';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { DEFAULT_PROXY } from '../../src/service/config/configSections.ts';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import type { KeyScope } from '../../src/service/store/accounts/apiKeys.ts';
import { Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { CuttingLine } from './support/cuttingLine.ts';
import { isolationIsMissing } from './support/isolation.ts';
import { PlainService, SYNONYMS } from './support/plainService.ts';
import { processesWith } from './support/processes.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { runInTerminal, whyNoTerminal } from './support/shell.ts';

// What confines a process, as it sees it itself.
const CONFINEMENT =
  'readlink /proc/self/ns/* ; grep -E "^(Cap|NoNewPrivs|Seccomp|Uid|Gid)" /proc/self/status; cat /proc/self/cgroup; ulimit -aH';
const SCRIPT = `sh -c '${CONFINEMENT}' > confinement.txt 2>&1\necho ready\nsleep 600`;
const MOST_PROCESSES = 200;
const NO_SUCH_JOB = '00000000000000000000';

interface Result extends CommandEnd {
  readonly stdout: string;
  readonly stderr: string;
}

async function resultOf(command: RunningCommand, input: string | Uint8Array = ''): Promise<Result> {
  command.stdin.end(input);
  const { stdout, stderr } = command;
  const texts = Promise.all([text(stdout), stderr === undefined ? '' : text(stderr)]);
  const [[out, error], end] = await Promise.all([texts, command.ended]);
  return { ...end, stdout: out, stderr: error };
}

const shell = (line: string, ...args: string[]) => ['sh', '-c', line, 'sh', ...args] as const;

async function untilPrinted(stream: Readable, wanted: string): Promise<void> {
  let printed = '';
  for await (const bytes of stream.iterator({ destroyOnReturn: false })) {
    printed += String(bytes);
    if (printed.includes(wanted)) return;
  }
  assert.fail(`the stream ended without ${wanted}: ${printed}`);
}

async function until(isReached: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isReached())) await sleep(20);
}

/** Sockets of this process and its descendants that accept connections, beside those of Node.js's test runner. */
function listeners(): readonly string[] {
  const own = new Set([String(process.pid)]);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (let size = 0; size !== own.size; ) {
    size = own.size;
    for (const pid of pids) if (own.has(parentOf(pid))) own.add(pid);
  }
  const inodes = new Set([...own].flatMap(socketsOf));
  const read = (path: string) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/));
  const tcp = ['tcp', 'tcp6'].flatMap((name) => read(`/proc/net/${name}`)).filter((fields) => fields[3] === '0A');
  const unix = read('/proc/net/unix').filter((fields) => fields[3] === '00010000');
  const found = [...tcp.map((fields) => fields[9]), ...unix.map((fields) => fields[6])];
  return found.flatMap((inode) => (inode !== undefined && inodes.has(inode) ? [inode] : [])).toSorted();
}

function parentOf(pid: string): string {
  try {
    return /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '';
  } catch {
    return ''; // it has ended
  }
}

function socketsOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

const missing = await isolationIsMissing();
// What is the same with and without a sandbox is tested where there is more on the way.
const COMMON = missing === undefined ? 'bubblewrap' : 'none';
for (const isolation of ['none', 'bubblewrap'] as const) {
  const isSkipped = isolation === 'bubblewrap' && missing !== undefined && `NO ISOLATION: ${missing}`;
  suite(`in a running job with isolation = "${isolation}"`, { skip: isSkipped }, () => {
    let service: ServiceClient;
    let release: () => Promise<void>;
    let job: string;
    let client: RemoteClient;
    let tunnel: JobTunnelClient;

    before(async () => {
      const releases: (() => unknown)[] = [];
      // The service and its folder live as long as the suite.
      const context = { after: (work: () => unknown) => void releases.push(work) };
      release = async () => {
        for (const work of releases.toReversed()) await work();
      };
      service = await startService(context as never, {
        config: {
          ...testConfig({ isolation, max_jobs: 8, max_processes: MOST_PROCESSES }),
          // Each cut of the line takes a connection, and how many it takes depends on the machine.
          inside: { ...DEFAULT_CONFIG.inside, connections_per_minute: 1_000 },
          proxy: DEFAULT_PROXY, // of a line that is cut
        },
      });
      client = new RemoteClient(service.url, service.key);
      job = await service.submit({ 'job.sh': SCRIPT }, { script: 'job.sh' });
      await service.untilOutput(job, /ready/);
      await service.untilRunning(job);
      tunnel = await client.connectJob(job);
    });

    after(async () => {
      tunnel[Symbol.dispose]();
      await client.close();
      await service.request(`/v1/jobs/${job}`, { method: 'DELETE' });
      await release();
    });

    const otherJob = async (script: string): Promise<string> => {
      const id = await service.submit({ 'job.sh': script }, { script: 'job.sh' });
      await service.untilRunning(id);
      return id;
    };

    test('a command has the folder, the variables, the streams and the exit status', async () => {
      const line = 'pwd; echo $FARWHARF_JOB_ID; echo to stderr >&2; cat; exit 5';
      const { stdout, stderr, code, signal } = await resultOf(tunnel.exec(shell(line)), 'typed\n');
      const [folder = '', id, typed] = stdout.split('\n');
      assert.match(folder, /\/workspace$/);
      assert.deepEqual([id, typed, stderr, code, signal], [job, 'typed', 'to stderr\n', 5, null]);
      const { code: notFound, failure } = await resultOf(tunnel.exec(['no-such-program']));
      assert.equal(notFound, 127);
      assert.match(failure ?? '', /^no-such-program does not exist/);
      const { code: noPath } = await resultOf(tunnel.exec(['./job.sh']));
      assert.equal(noPath, 126);
    });

    test('a command is confined as the job is, and has no open file but its own', async () => {
      const { stdout } = await resultOf(tunnel.exec(shell(`${CONFINEMENT}; echo ---; cat confinement.txt`)));
      const [own = '', jobs] = stdout.split('---\n');
      assert.ok(own.includes('pid:['), own);
      assert.equal(own, jobs);
      const { stdout: files } = await resultOf(tunnel.exec(['ls', '/proc/self/fd']));
      assert.deepEqual(files.trim().split('\n'), ['0', '1', '2', '3']); // 3 is the folder
      if (isolation === 'none') return;
      const { stdout: seen } = await resultOf(tunnel.exec(['find', service.data, '-maxdepth', '3', '-type', 'f']));
      assert.equal(seen, '');
    });

    test('files are those of the job’s folder, whatever its links lead to', async () => {
      await resultOf(tunnel.exec(shell('mkdir -p out; echo 0.5 > out/loss.txt; ln -sf /etc/hostname out/host')));
      const { entries } = await tunnel.list('out');
      assert.deepEqual(entries.map(({ path, type, size }) => `${path} ${type} ${size}`).toSorted(), [
        'out/host link 0',
        'out/loss.txt file 4',
      ]);
      using read = await tunnel.read('out/loss.txt');
      assert.equal(String(await buffer(read.bytes)), '0.5\n');
      await assert.rejects(tunnel.read('out/host'), { code: 'refused' });
      assert.equal((await tunnel.write('out/rate.txt', Buffer.from('0.1'))).size, 3);
      assert.equal((await resultOf(tunnel.exec(['cat', 'out/rate.txt']))).stdout, '0.1');
    });

    test('ports are those on which the job listens, and no others of its machine', async () => {
      const server = tunnel.exec(['python3', '-u', '-m', 'http.server', '0', '--bind', '127.0.0.1']);
      await untilPrinted(server.stdout, 'Serving');
      const ports = await tunnel.ports();
      assert.deepEqual(
        ports.map(({ process: name, isPublic }) => [name, isPublic]),
        [['http.server', false]],
      );
      const [{ port } = { port: 0 }] = ports;
      {
        await using forwarded = await forwardPort(tunnel, port, { localPort: undefined });
        const page = await fetch(`http://127.0.0.1:${forwarded.localPort}/confinement.txt`);
        assert.match(await page.text(), /pid:\[/);
      }
      const other = await otherJob('sleep 600');
      using elsewhere = await client.connectJob(other);
      assert.deepEqual(await elsewhere.ports(), []);
      await assert.rejects(elsewhere.connect(port), { code: 'refused', message: /belongs to another program/ });
      await assert.rejects(tunnel.connect(Number(new URL(service.url).port)), { code: 'refused' });
      await service.request(`/v1/jobs/${other}`, { method: 'DELETE' });
      server.signal('SIGTERM');
      server.stdout.resume();
      await server.ended;
      await assert.rejects(tunnel.connect(port), { code: 'missing' });
    });

    if (isolation === COMMON)
      test('10 MB arrive both ways, byte for byte, while another stream is not read', async () => {
        const stuck = tunnel.exec(['cat', '/dev/zero']); // nobody reads what it prints
        const sent = randomBytes(10_000_000);
        const command = tunnel.exec(['cat']);
        command.stdin.end(sent);
        const received = await buffer(command.stdout);
        const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
        assert.equal(digest(received), digest(sent));
        assert.equal((await command.ended).code, 0);
        assert.ok(stuck.stdout.readableLength <= TUNNEL_CHANNELS.windowBytes);
        stuck.signal('SIGTERM');
        stuck.stdout.resume();
        assert.equal((await stuck.ended).signal, 'SIGTERM');
      });

    if (isolation === COMMON)
      test('output that is read late is complete', async () => {
        const command = tunnel.exec(shell('head -c 6000000 /dev/zero; exit 3'));
        command.stdin.end();
        // The command cannot end before, because the windows and pipes on the way hold less.
        assert.equal((await buffer(command.stdout)).length, 6_000_000);
        assert.equal((await command.ended).code, 3);
      });

    test('signals reach the command, also one that reads no input', async () => {
      const polite = tunnel.exec(shell('trap "echo got it; exit 7" INT; echo ready; while :; do sleep 0.05; done'));
      await untilPrinted(polite.stdout, 'ready');
      polite.stdin.write(Buffer.alloc(5_000_000));
      polite.signal('SIGINT');
      polite.stdout.resume();
      assert.deepEqual(await polite.ended, { code: 7, signal: null });
      const plain = tunnel.exec(['sleep', '600']);
      plain.signal('SIGINT');
      assert.deepEqual(await plain.ended, { code: null, signal: 'SIGINT' });
    });

    if (isolation === COMMON)
      test('what a command leaves running ends with it', async () => {
        const mark = `6${isolation.length}01`;
        const { stdout } = await resultOf(tunnel.exec(shell(`setsid sleep ${mark} & echo done`)));
        assert.equal(stdout, 'done\n');
        assert.deepEqual(processesWith(`sleep ${mark}`), []);
      });

    test('a client that is gone leaves no process, whatever it ignores', async () => {
      const mark = `6${isolation.length}02`;
      const own = await client.connectJob(job);
      const line = `trap "" HUP TERM INT; setsid sleep ${mark} & echo ready; while :; do sleep 0.05; done`;
      const command = own.exec(shell(line));
      await untilPrinted(command.stdout, 'ready');
      own[Symbol.dispose]();
      await assert.rejects(command.ended);
      await until(() => processesWith(`sleep ${mark}`).length === 0);
      assert.equal((await service.job(job)).state, 'running');
    });

    if (isolation === COMMON)
      test('a command continues after cuts of the line, with nothing lost or doubled', async () => {
        await using line = await CuttingLine.start(service.url);
        await using far = new RemoteClient(line.url, service.key);
        line.lastsFor = 300_000;
        using own = await far.connectJob(job);
        const changes: string[] = [];
        own.onDidChangeConnection((change) => changes.push(change));
        const sent = randomBytes(2_000_000);
        const command = own.exec(shell('echo $$ >&2; cat; exit 7'));
        command.stdin.end(sent);
        const [received, pid] = await Promise.all([buffer(command.stdout), text(command.stderr ?? command.stdout)]);
        assert.ok(received.equals(sent));
        assert.match(pid, /^\d+\n$/);
        assert.deepEqual(await command.ended, { code: 7, signal: null });
        assert.ok(line.cuts >= 6, String(line.cuts));
        line.lastsFor = Number.POSITIVE_INFINITY;
        changes.length = 0;
        const counter = own.exec(shell('i=0; while [ $i -lt 60 ]; do echo $i; i=$((i+1)); sleep 0.02; done'));
        await untilPrinted(counter.stdout, '5\n');
        line.isDown = true;
        line.cut();
        await until(() => changes.includes('lost'));
        line.isDown = false;
        const rest = await text(counter.stdout);
        assert.match(rest, /(^|\n)58\n59\n$/);
        assert.deepEqual(changes, ['lost', 'resumed']);
      });

    test('a terminal has a size that changes, keys that are signals, and the status of its command', async () => {
      const terminal = { name: 'xterm', columns: 91, rows: 31 };
      const { stdout, code, stderr } = await resultOf(
        tunnel.exec(shell('tty; stty size; echo $TERM; exit 4'), terminal),
      );
      assert.match(stdout, /^\/dev\/pts\/\d+\r\n31 91\r\nxterm\r\n$/);
      assert.deepEqual([code, stderr], [4, '']);
      const wide = tunnel.exec(shell('trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done'), terminal);
      await untilPrinted(wide.stdout, 'ready');
      wide.resize({ columns: 123, rows: 45 });
      await untilPrinted(wide.stdout, '45 123');
      wide.stdin.write('\u0003');
      wide.stdout.resume();
      assert.deepEqual(await wide.ended, { code: null, signal: 'SIGINT' });
    });

    if (isolation === COMMON)
      test('a thousand streams are refused, and the connection continues', async () => {
        using own = await client.connectJob(job);
        const commands = [...Array(250).keys()].map(() => own.exec(['sleep', '600']));
        const ends = commands.map(({ ended }) => ended.catch((error: unknown) => error));
        const refused = new Set<unknown>();
        for (const end of ends) void end.then((error) => error instanceof Error && refused.add(error));
        const most = TUNNEL_CHANNELS.maxChannels / 4;
        await until(() => refused.size >= commands.length - most);
        assert.equal(refused.size, commands.length - most);
        for (const command of commands) command.signal('SIGKILL');
        await Promise.all(ends);
        assert.equal((await resultOf(own.exec(['echo', 'still here']))).stdout, 'still here\n');
      });

    test('a job that ends takes its tunnel and the commands with it', async () => {
      const mark = `6${isolation.length}03`;
      const id = await otherJob('sleep 600');
      using own = await client.connectJob(id);
      const command = own.exec(shell(`trap "" HUP TERM; echo ready; sleep ${mark}; sleep ${mark}`));
      await untilPrinted(command.stdout, 'ready');
      await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
      await assert.rejects(command.ended, { name: 'AppError', code: 'conflict', message: /the job is over/ });
      assert.equal((await service.untilEnd(id)).state, 'cancelled');
      assert.deepEqual(processesWith(`sleep ${mark}`), []);
      await assert.rejects(client.connectJob(id), { status: 409, message: /The job is over \(cancelled\)/ });
    });

    test('a command counts in the limits of the job', async () => {
      const id = await otherJob('sleep 600');
      using own = await client.connectJob(id);
      const many = own.exec(
        shell(`i=0; while [ $i -lt ${2 * MOST_PROCESSES} ]; do sleep 600 & i=$((i+1)); done; wait`),
      );
      const ended = many.ended.catch(() => {});
      const { state, reason } = await service.untilEnd(id);
      assert.equal(state, 'failed');
      assert.match(reason ?? '', /tried to run more than/);
      await ended;
    });

    test('nothing new listens', async () => {
      const before = listeners();
      assert.ok(before.length >= 2, 'the port and the socket of the service');
      using own = await client.connectJob(job);
      const command = own.exec(shell('echo ready; exec sleep 600'));
      await untilPrinted(command.stdout, 'ready');
      assert.deepEqual(listeners(), before);
    });
  });
}

test('a service that is killed and started again connects to the jobs that it finds running', async (t) => {
  const home = await temporaryFolder(t);
  const options = { config: testConfig({ isolation: COMMON, max_jobs: 2 }) };
  const first = await ServiceProcess.start(home, options);
  const job = await first.client.submit({ 'job.sh': 'echo $$ > pid; sleep 600' }, { script: 'job.sh' });
  await first.client.untilRunning(job);
  await first.end('SIGKILL');
  const second = await ServiceProcess.start(home, options);
  t.after(() => second.end('SIGKILL'));
  const service = second.client;
  const client = new RemoteClient(service.url, service.key);
  t.after(() => client.close());
  using tunnel = await client.connectJob(job);
  const entrance = join(service.data, 'jobs', job, 'tunnel.sock');
  assert.ok(existsSync(entrance));
  const { stdout } = await resultOf(tunnel.exec(shell(`cat pid; [ ! -e ${entrance} ] || echo seen`)));
  assert.match(stdout, COMMON === 'none' ? /^\d+\nseen\n$/ : /^\d+\n$/);
  await service.request(`/v1/jobs/${job}`, { method: 'DELETE' });
  assert.equal((await service.untilEnd(job)).state, 'cancelled');
  await until(() => !existsSync(entrance));
});

suite('the tunnel of a service', () => {
  const started = async (t: Parameters<typeof startService>[0]) => {
    const service = await startService(t, { config: testConfig({ max_jobs: 4 }) });
    const { client: ada } = await addAccount(service, 'ada');
    const job = await ada.submit({ 'job.sh': 'sleep 600' }, { script: 'job.sh' });
    await ada.untilRunning(job);
    const keyWith = async (account: string, scopes: KeyScope[], budget?: number) => {
      using admin = await openAdmin(service.data, { mayCreate: false });
      return await admin.call('keys.add', { account_id: account, scopes, ...(budget !== undefined && { budget }) });
    };
    const clientOf = (key: string) => new RemoteClient(service.url, key);
    return { service, ada, job, keyWith, clientOf };
  };

  test('accounts, keys and states decide who comes in, and each connection is in the audit trail', async (t) => {
    const { service, ada, job, keyWith, clientOf } = await started(t);
    const { client: bob } = await addAccount(service, 'bob');
    const refused = async (key: string, id = job) => {
      await using client = clientOf(key);
      try {
        (await client.connectJob(id))[Symbol.dispose]();
        return undefined;
      } catch (error) {
        assert.ok(error instanceof Error && 'status' in error, String(error));
        return [error.status, error.message] as const;
      }
    };
    assert.deepEqual(await refused(bob.key), await refused(ada.key, NO_SUCH_JOB));
    assert.equal((await refused(bob.key))?.[0], 404);
    assert.equal((await refused('wrong-key'))?.[0], 401);
    const agent = await keyWith('ada', ['submit', 'read', 'cancel', 'secrets']);
    assert.match((await refused(agent.key))?.join(' ') ?? '', /^403 .*scope "connect"/);
    // A key that may spend or read less than the one that submitted the job must not act through it.
    const limited = await keyWith('ada', ['submit', 'read', 'connect']);
    assert.match((await refused(limited.key))?.join(' ') ?? '', /^403 .*submitted with it/);
    const ownJob = await service.withKey(limited.key).submit({ 'job.sh': 'sleep 600' }, { script: 'job.sh' });
    await service.withKey(limited.key).untilRunning(ownJob);
    assert.equal(await refused(limited.key, ownJob), undefined);
    assert.equal(await refused((await keyWith('ada', ['connect', 'secrets'])).key), undefined);

    const plain = await ada.request(`/v1/jobs/${job}/connect`);
    assert.deepEqual([plain.status, plain.headers.get('upgrade')], [426, 'websocket']);
    assert.ok((await ada.json<{ features: string[] }>('/v1/me')).features.includes(CONNECT_FEATURE));
    using admin = await openAdmin(service.data, { mayCreate: false });
    const { entries } = await admin.call('audit.list', { verb: 'jobs.connect', limit: 10 });
    assert.deepEqual(
      entries.map(({ account_id: account, job_id: id }) => [account, id]),
      [
        ['ada', job],
        ['ada', ownJob],
      ],
    );
    for (const id of [job, ownJob]) await ada.request(`/v1/jobs/${id}`, { method: 'DELETE' });
  });

  test('the operator limits connections, sees who is connected, and ends connections with a drain', async (t) => {
    const inside = { ...DEFAULT_CONFIG.inside, disabled_accounts: ['bob'], connections_per_job: 1, mb_per_second: 2 };
    const service = await startService(t, { config: { ...testConfig({ max_jobs: 4 }), inside } });
    const { client: bob } = await addAccount(service, 'bob');
    const script = { 'job.sh': 'sleep 600' };
    const [job, ofBob] = [
      await service.submit(script, { script: 'job.sh' }),
      await bob.submit(script, { script: 'job.sh' }),
    ];
    for (const [client, id] of [[service, job] as const, [bob, ofBob] as const]) await client.untilRunning(id);
    await using client = new RemoteClient(service.url, service.key);
    await using other = new RemoteClient(service.url, bob.key);
    await assert.rejects(other.connectJob(ofBob), { status: 403, message: /lets this account not connect/ });
    await assert.rejects(
      bob.submit(script, { script: 'job.sh', debug: { hold: 60 } }),
      /meta\.debug: .* this account not/,
    );
    assert.ok(!(await bob.json<{ features: string[] }>('/v1/me')).features.includes(DEBUG_FEATURE));
    using tunnel = await client.connectJob(job);
    await assert.rejects(client.connectJob(job), { status: 429, message: /A job may have 1 connection/ });
    const start = performance.now();
    const command = tunnel.exec(['head', '-c', '3000000', '/dev/zero']);
    assert.equal((await buffer(command.stdout)).length, 3_000_000);
    assert.ok(performance.now() - start > 1_000);
    using admin = await openAdmin(service.data, { mayCreate: false });
    const [connection] = (await admin.call('jobs.show', { job_id: job })).connections;
    assert.deepEqual([connection?.account_id, connection?.key_id], ['local', null]);
    assert.ok((connection?.received_bytes ?? 0) > 3_000_000);
    const sleeping = tunnel.exec(['sleep', '600']);
    await admin.call('service.drain', { reason: 'new disks' });
    await assert.rejects(sleeping.ended, {
      code: 'refused',
      message: 'The operator has drained this service: new disks.',
    });
    await assert.rejects(client.connectJob(job), {
      status: 503,
      message: /drained this service: new disks\. Connect once/,
    });
    const ends = async () => (await admin.call('audit.list', { verb: 'jobs.disconnect', limit: 10 })).entries;
    await until(async () => (await ends()).length === 1);
    const [end] = await ends();
    assert.equal(end?.job_id, job);
    assert.ok(Number(fieldOf(end?.input, 'received_bytes')) > 3_000_000);
    await admin.call('service.resume', {});
    for (const id of [job, ofBob]) await admin.call('jobs.cancel', { job_id: id });
  });

  test('where the operator lets nobody connect, no job can be connected to, debugged or frozen', async (t) => {
    for (const { features, ...settings } of [
      { enabled: false, features: [] },
      {
        disabled_classes: ['closed'],
        features: [CONNECT_FEATURE, DEBUG_FEATURE],
      },
    ]) {
      const inside = { ...DEFAULT_CONFIG.inside, ...settings };
      const classes = [{ name: 'closed', description: '', cpus: 1, memory_gb: 1, gpus: 0, credits_per_minute: 1 }];
      const config = { ...testConfig({ max_jobs: 4 }), inside, machine_classes: classes };
      const service = await startService(t, { config });
      const me = await service.json<{ features: string[]; limits: object }>('/v1/me');
      const offered = me.features.filter((name) => name === CONNECT_FEATURE || name === DEBUG_FEATURE);
      assert.deepEqual([offered, 'max_hold' in me.limits], [features, features.length > 0]);
      const job = await service.submit({ 'job.sh': 'sleep 600' }, { script: 'job.sh' });
      await service.untilRunning(job);
      await using client = new RemoteClient(service.url, service.key);
      const refused = { status: 403, message: /The operator of this service lets nobody connect/ };
      await assert.rejects(client.connectJob(job), refused);
      const debugged = service.submit({ 'job.sh': '' }, { script: 'job.sh', debug: { hold: 60 } });
      await assert.rejects(debugged, /meta\.debug: The operator of this service lets nobody connect/);
      await assert.rejects(client.extendFreeze(job, 60), { status: 409 });
      await service.request(`/v1/jobs/${job}`, { method: 'DELETE' });
    }
  });

  test('a revoked key, too many connections and what is no WebSocket are refused', async (t) => {
    const { service, job, keyWith, clientOf, ada } = await started(t);
    const { key, key_id: keyId } = await keyWith('ada', ['connect', 'secrets']);
    await using client = clientOf(key);
    using tunnel = await client.connectJob(job);
    const command = tunnel.exec(['sleep', '600']);
    using admin = await openAdmin(service.data, { mayCreate: false });
    await admin.call('keys.revoke', { key_id: keyId });
    await assert.rejects(command.ended, { code: 'not-signed-in', message: /revoked/ });

    await using other = clientOf(ada.key);
    const open: JobTunnelClient[] = [];
    for (let count = 0; count < 8; count += 1) open.push(await other.connectJob(job));
    await assert.rejects(other.connectJob(job), { status: 429, message: /8 connections open at once/ });
    for (const one of open) one[Symbol.dispose]();

    // What follows a refused upgrade on the same connection is not read as another request.
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const head = [
      `GET /v1/jobs/${job}/connect HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${ada.key}`,
    ];
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
    socket.write(`${[...head, ...upgrade].join('\r\n')}\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    const answer = await text(socket);
    assert.match(answer, /^HTTP\/1\.1 426 /);
    assert.equal(answer.match(/HTTP\/1\.1 \d/g)?.length, 1);
    await ada.request(`/v1/jobs/${job}`, { method: 'DELETE' });
  });
});

test('farwharf exec, files, cp, ports and forward use a running job, and say what a service cannot do', async (t) => {
  const service = await startService(t, { config: testConfig({ max_jobs: 4 }) });
  const script = 'python3 -m http.server 0 --bind 127.0.0.1 &\nsleep 600';
  const job = await service.submit({ 'job.sh': script }, { script: 'job.sh' });
  await service.untilRunning(job);
  await using scratch = await Scratch.create();
  const env = { FARWHARF_REMOTE_HOST: service.url, FARWHARF_API_KEY: service.key };
  const ran = await scratch.run(['exec', job, '--', ...shell('echo out; echo err >&2; exit 9')], { env });
  assert.deepEqual(ran, { exit: 9, stdout: 'out\n', stderr: 'err\n' });
  const line = 'trap "echo interrupted; exit 6" INT; echo ready; while :; do sleep 0.05; done';
  let isSent = false;
  const interrupted = await scratch.run(['exec', job, '--', ...shell(line)], {
    env,
    onOutput: ({ stdout }, interrupt) => {
      if (isSent || !stdout.includes('ready')) return;
      isSent = true;
      interrupt();
    },
  });
  assert.deepEqual(interrupted, { exit: 6, stdout: 'ready\ninterrupted\n', stderr: '' });
  await testFilesAndPorts(scratch, job, env);
  const noShell = await scratch.run(['shell', job], { env });
  assert.equal(noShell.exit, 2);
  assert.match(noShell.stderr, /A shell needs a terminal/);
  const unfinished = await service.request(`/v1/jobs/${job}/artifacts`);
  assert.deepEqual([unfinished.status, unfinished.headers.get('retry-after')], [409, null]);
  await service.request(`/v1/jobs/${job}`, { method: 'DELETE' });
  await service.untilEnd(job);
  const late = await scratch.run(['exec', job, '--', 'true'], { env });
  assert.equal(late.exit, 1);
  assert.match(late.stderr, /The job is over \(cancelled\)\. Only a running job can be connected to\.\n$/);

  await using plain = await PlainService.start(SYNONYMS);
  const folder = await scratch.folder('w', { 'job.sh': 'sleep 5' });
  const sent = await scratch.run(['submit', folder, '--script', 'job.sh'], { env: plain.env });
  const refused = await scratch.run(['exec', sent.stdout.trim(), '--', 'true'], { env: plain.env });
  assert.equal(refused.exit, 1);
  assert.match(refused.stderr, /cannot be connected to: the service does not offer it/);
  assert.ok(!plain.unknownRequests.some((request) => request.includes('connect')));
});

/** What `farwharf files`, `cp`, `ports` and `forward` do with a job that serves its folder. */
async function testFilesAndPorts(scratch: Scratch, job: string, env: Readonly<Record<string, string>>): Promise<void> {
  const cwd = await scratch.folder('here', { 'loss.txt': 'mine' });
  const run = (...args: string[]) => scratch.run(args, { env, cwd });
  await run(
    'exec',
    job,
    '--',
    ...shell('mkdir -p out/.git; echo 0.5 > out/loss.txt; echo x > out/.git/config; ln -s / out/root'),
  );
  const listed = JSON.parse((await run('files', job, 'out', '--json')).stdout) as {
    files: { path: string; size: number; modified: string }[];
  };
  assert.deepEqual(
    listed.files.map(({ path, size }) => [path, size]),
    [
      ['out/.git/config', 2],
      ['out/loss.txt', 4],
    ],
  );
  assert.match(listed.files[0]?.modified ?? '', /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.match((await run('files', job)).stdout, /4 B +\S+ s ago +out\/loss\.txt/);
  assert.match((await run('files', job, '../x')).stderr, /is not a path in the job's folder/);
  assert.match((await run('files', job, 'out/root')).stderr, /leads out of the job’s folder/);

  // What is there already is kept, and so is what tools would act on.
  const copied = await run('cp', `${job}:out/loss.txt`, '.');
  assert.deepEqual([copied.exit, await readFile(join(cwd, 'loss.txt'), 'utf8')], [0, 'mine'], copied.stderr);
  assert.match(copied.stderr, /\+ loss \(job \w+\)\.txt/);
  await run('cp', `${job}:out/loss.txt`, 'loss.txt', '--on-conflict', 'overwrite');
  assert.equal(await readFile(join(cwd, 'loss.txt'), 'utf8'), '0.5\n');
  const folder = await run('cp', `${job}:out`, 'copy', '--json');
  assert.deepEqual((JSON.parse(folder.stdout) as { written: string[] }).written, ['loss.txt']);
  assert.match(folder.stderr, /out\/root \(not copied/);
  assert.deepEqual(await readdir(join(cwd, 'copy')), ['loss.txt']);
  const missing = await run('cp', `${job}:absent`, 'copy2');
  assert.deepEqual([missing.exit, existsSync(join(cwd, 'copy2'))], [2, false]);

  const portsOf = async () => {
    const { ports } = JSON.parse((await run('ports', job, '--json')).stdout) as {
      ports: { port: number; process: string }[];
    };
    return ports;
  };
  await until(async () => (await portsOf()).length > 0);
  const [server] = await portsOf();
  assert.equal(server?.process, 'http.server');
  assert.match((await run('forward', job, '70000')).stderr, /70000 is not a port/);
  const page = Promise.withResolvers<string>();
  let isAsked = false;
  const forwarding = await scratch.run(['forward', job, String(server.port)], {
    env,
    onOutput: ({ stdout }, interrupt) => {
      const [, url] = /is at (http:\S+)\n/.exec(stdout) ?? [];
      if (url === undefined || isAsked) return;
      isAsked = true;
      const asked = fetch(`${url}/out/loss.txt`).then((response) => response.text());
      asked.then(page.resolve, page.reject).finally(() => interrupt());
    },
  });
  assert.equal(forwarding.exit, 130, forwarding.stderr);
  assert.match(forwarding.stderr, new RegExp(`^Port ${server.port} of this machine is in use`));
  assert.equal(await page.promise, '0.5\n');
}

test('a terminal shows what a program for whole screens sends as it was sent', {
  skip: whyNoTerminal() ?? false,
}, async (t) => {
  const service = await startService(t);
  const job = await service.submit({ 'job.sh': 'sleep 600' }, { script: 'job.sh' });
  await service.untilRunning(job);
  await using scratch = await Scratch.create();
  const env = { FARWHARF_REMOTE_HOST: service.url, FARWHARF_API_KEY: service.key };
  const line = `farwharf exec -t ${job} -- sh -c 'stty -opost; printf "a\\nb"'`;
  const ran = await runInTerminal(scratch, line, { columns: 80, env });
  assert.deepEqual(ran.statuses, [0], ran.stdout);
  assert.match(ran.stdout, /a\nb/);
  await service.request(`/v1/jobs/${job}`, { method: 'DELETE' });
});
