import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GATE } from './support/gate.ts';
import { pack } from './support/packedPackage.ts';
import { laterVersion } from './support/serverBuilds.ts';
import { type Ran, ServerMachine } from './support/serverMachine.ts';
import type { JobBody } from './support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DATA = '/var/lib/farwharf';
// Of each command, so many points at which it is killed: an installation has about 150 steps, each of which takes seconds to try.
const KILLS = Number(process.env['FARWHARF_TEST_TIMES'] ?? 1);
const ALL = '/opt/farwharf /etc/farwharf /var/lib/farwharf /var/backups/farwharf /var/log/farwharf';
// Kills the shell before the given command, and counts the commands.
const KILL_HOOK = `set -T
steps=0
trap 'steps=$((steps + 1)); echo $steps > /shared/steps; [ "$steps" != "$KILL_AT" ] || kill -9 $$' DEBUG
`;

const machine = await ServerMachine.start();
if (typeof machine === 'string') test('the service is installed on a server', (t) => t.skip(`NO SERVER: ${machine}`));
else describe('a server on which the service is installed', () => declare(machine));

function declare(server: ServerMachine): void {
  const tarballs: Record<string, string> = {};
  const farwharfServer = (...args: string[]): Ran =>
    server.run('sh', ['/shared/package/server/farwharf-server', ...args.map((arg) => tarballs[arg] ?? arg)]);
  const done = (ran: Ran): Ran => {
    assert.equal(ran.status, 0, ran.stdout + ran.stderr);
    return ran;
  };
  const refused = (ran: Ran, why: RegExp): void => {
    assert.equal(ran.status, 1, ran.stdout + ran.stderr);
    assert.match(ran.stderr, why);
  };
  const farwharf = (line: string): Ran => server.shell(`runuser -u farwharf -- env HOME=${DATA} farwharf ${line}`);
  const admin = (line: string): Ran => farwharf(`admin ${line} --data ${DATA}`);
  const accounts = (): string => done(admin('account list --json')).stdout;
  const version = (): string => done(server.shell('farwharf --version')).stdout.trim();
  const health = (): string =>
    server.shell(`node -e 'fetch("http://127.0.0.1:8787/healthz").then((answer) => answer.text()).then(console.log)'`)
      .stdout;
  const untilHealthy = async (expected: string): Promise<void> => {
    while (!health().includes(`"version":"${expected}"`)) await sleep(200);
    assert.match(health(), /"status":"ok"/);
  };
  const isActive = (): boolean => server.run('systemctl', ['is-active', 'farwharf']).stdout === 'active\n';
  let key = '';
  /** The command line of a user, ada. */
  const client = (line: string): Ran => {
    const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:8787', FARWHARF_API_KEY: key, FARWHARF_HOME: '/tmp/client' };
    return done(server.run('bash', ['-c', `farwharf ${line}`], { env }));
  };
  const jobOf = (id: string): JobBody => JSON.parse(done(admin(`job ${id} --json`)).stdout) as JobBody;
  const untilState = async (id: string, state: string): Promise<void> => {
    while (jobOf(id).state !== state) await sleep(200);
  };
  /** A job that runs until its gate is opened. */
  const untilRunning = async (): Promise<string> => {
    done(server.shell(`mkdir -p /tmp/gated && echo '${GATE}; echo made > result.txt' > /tmp/gated/a.sh`));
    const id = client('submit /tmp/gated --script a.sh').stdout.trim();
    await untilState(id, 'running');
    return id;
  };
  const openGate = (id: string): void => {
    done(server.shell(`runuser -u farwharf touch ${DATA}/jobs/${id}/workspace/.open-gate`));
  };
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

  before(() => {
    const first = pack(ROOT, join(server.shared, 'own'), '--ignore-scripts');
    const inMachine = (path: string): string => path.replace(server.shared, '/shared');
    tarballs['OWN'] = inMachine(first);
    tarballs['NEXT'] = inMachine(laterVersion(first, server.shared, { version: '90.0.0' }));
    tarballs['CHANGED'] = inMachine(laterVersion(first, server.shared, { version: '91.0.0', changesStore: true }));
    tarballs['BROKEN'] = inMachine(
      laterVersion(first, server.shared, { version: '92.0.0', changesStore: true, isBroken: true }),
    );
    done(server.shell(`tar -xzf ${tarballs['OWN']} -C /shared`));
    writeFileSync(join(server.shared, 'kill.sh'), KILL_HOOK);
  });
  after(() => server[Symbol.dispose]());

  test('what cannot be installed is refused with a reason, and changes nothing', () => {
    refused(farwharfServer('upgrade', 'OWN'), /not installed/);
    refused(farwharfServer('rollback'), /Nothing to go back to/);
    refused(farwharfServer('uninstall'), /not installed/);
    refused(farwharfServer('install', '/shared/missing.tgz'), /does not exist/);
    refused(farwharfServer('install', '/shared/kill.sh'), /not a tarball of Farwharf/);
    refused(farwharfServer('instal', 'OWN'), /Usage/);
    refused(
      server.run('runuser', ['-u', 'nobody', '--', 'sh', '/shared/package/server/farwharf-server', 'rollback']),
      /Only root/,
    );
    done(server.shell('touch /etc/systemd/system/farwharf.service'));
    refused(farwharfServer('install', 'OWN'), /farwharf.service was not made by farwharf-server/);
    done(server.shell('rm -r /etc/systemd/system/farwharf.service /opt/farwharf'));
    assert.notEqual(server.shell('getent passwd farwharf').status, 0);
  });

  test('an installation runs the service, and can be repeated', async () => {
    const { stderr } = done(farwharfServer('install', 'OWN'));
    assert.match(stderr, /ok +jobs are isolated by bubblewrap/);
    await untilHealthy(own.version);
    assert.equal(version(), own.version);
    done(admin('account add ada --name Ada --credits 100'));
    const pid = server.shell('systemctl show -p MainPID farwharf').stdout;
    done(farwharfServer('install', 'OWN'));
    assert.equal(server.shell('systemctl show -p MainPID farwharf').stdout, pid, 'it was not restarted');
    refused(farwharfServer('install', 'NEXT'), /farwharf-server upgrade/);
    assert.match(server.shell('systemctl is-enabled farwharf').stdout, /^enabled/);
    const modes = done(server.shell(`stat -c '%a %U %n' ${DATA} /etc/farwharf/service.toml`)).stdout;
    assert.equal(modes, `700 farwharf ${DATA}\n640 root /etc/farwharf/service.toml\n`);
  });

  test('a job runs in its sandbox under the unit, and what the unit denies is denied to it', async () => {
    key = done(admin('key add ada')).stdout.trim();
    // Families 17 and 2 are AF_PACKET and AF_INET; 298 is perf_event_open on x86-64.
    const script = `set -e
      echo "home: $(ls -A /home)" "store: $(ls ${DATA}/service.db 2> /dev/null)"
      node -e 'new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); console.log("node:", 6 * 7)'
      perl -e 'print "packet: ", socket(my $s, 17, 3, 0) ? "open" : $!, "\n"'
      perl -e 'print "internet: ", socket(my $s, 2, 1, 0) ? "open" : $!, "\n"'
      [ "$(uname -m)" != x86_64 ] || perl -e 'print "perf: ", syscall(298, 0, 0, -1, -1, 0) < 0 ? $! : "open", "\n"'`;
    writeFileSync(join(server.shared, 'job.sh'), script);
    done(server.shell('mkdir -p /tmp/folder && cp /shared/job.sh /tmp/folder/'));
    const { stdout } = client('submit /tmp/folder --script job.sh --watch');
    assert.match(stdout, /^home: {2}store: $/m);
    assert.match(stdout, /^node: 42$/m);
    // Without the unit, the kernel would answer that it is not permitted, and that an address is bad.
    assert.match(stdout, /^packet: Address family not supported by protocol$/m);
    assert.match(stdout, /^internet: open$/m);
    if (process.arch === 'x64') assert.match(stdout, /^perf: Operation not permitted$/m);
  });

  test('an upgrade keeps accounts, and a rollback to a version that reads the store keeps what came since', async () => {
    done(farwharfServer('upgrade', 'NEXT'));
    await untilHealthy('90.0.0');
    done(farwharfServer('upgrade', 'NEXT'));
    done(admin('account add bob --credits 5'));
    done(farwharfServer('rollback'));
    await untilHealthy(own.version);
    assert.match(accounts(), /"ada".*"bob"/s);
    refused(farwharfServer('rollback'), /Nothing to go back to/);
  });

  test('a rollback to a version that cannot read the store needs the copy, and says what that costs', async () => {
    const [across, over] = [await untilRunning(), await untilRunning()];
    done(farwharfServer('upgrade', 'CHANGED'));
    await untilHealthy('91.0.0');
    done(admin('account add carol --credits 5'));
    openGate(over);
    await untilState(over, 'succeeded');
    refused(farwharfServer('rollback'), /has changed its format.*rollback --restore-store/s);
    await untilHealthy('91.0.0');
    done(farwharfServer('rollback', '--restore-store'));
    await untilHealthy(own.version);
    assert.match(accounts(), /"ada"/);
    assert.doesNotMatch(accounts(), /carol/);
    // One job still runs, and the other has ended in the store that is gone.
    assert.equal(jobOf(across).state, 'running');
    openGate(across);
    await untilState(across, 'succeeded');
    const { state, reason, credits_charged: charged } = jobOf(over);
    assert.deepEqual([state, charged], ['lost', 0]);
    assert.match(reason ?? '', /replaced the database by an earlier copy/);
    assert.match(client(`download ${over} --into /tmp/over && cat /tmp/over/result.txt`).stdout, /^made$/m);
    const kept = done(server.shell('ls -d /var/backups/farwharf/after-91.0.0-*/service.db')).stdout;
    assert.equal(kept.trim().split('\n').length, 1);
  });

  test('a version that does not start is replaced by the one before, with its store', async () => {
    const before = accounts();
    refused(farwharfServer('upgrade', 'BROKEN'), /This version is broken.*runs again/s);
    await untilHealthy(own.version);
    assert.equal(accounts(), before);
    assert.equal(version(), own.version);
  });

  test('an upgrade whose configuration is wrong changes nothing', async () => {
    done(
      server.shell('cp /etc/farwharf/service.toml /shared/kept.toml; echo "[nonsense]" >> /etc/farwharf/service.toml'),
    );
    refused(farwharfServer('upgrade', 'NEXT'), /does not accept the configuration/);
    done(server.shell('cat /shared/kept.toml > /etc/farwharf/service.toml; systemctl restart farwharf'));
    await untilHealthy(own.version);
    assert.equal(version(), own.version);
  });

  /** Runs a command that is killed before its step number `step`, waits for what it has started, and returns whether it was killed. */
  const killedAt = (step: number, args: readonly string[]): boolean => {
    const env = { BASH_ENV: '/shared/kill.sh', KILL_AT: String(step) };
    const { status } = server.run(
      'bash',
      ['/shared/package/server/farwharf-server', ...args.map((arg) => tarballs[arg] ?? arg)],
      { env },
    );
    // A program that it has started holds the lock.
    done(server.shell('flock /run/farwharf-server.lock true'));
    return status !== 0;
  };
  const stepsOf = (args: readonly string[]): number => {
    assert.equal(killedAt(0, args), false);
    return Number(readFileSync(join(server.shared, 'steps'), 'utf8'));
  };
  /** Points of a command that are spread over it, others each time. */
  const pointsOf = (steps: number): number[] =>
    Array.from({ length: KILLS }, (_, part) => 1 + Math.floor(((part + Math.random()) * steps) / KILLS));

  test('an upgrade or a rollback that is killed leaves one complete version, and does the rest when it is repeated', async () => {
    const commands = [
      { args: ['upgrade', 'NEXT'], from: own.version, to: '90.0.0' },
      { args: ['rollback'], from: '90.0.0', to: own.version },
    ];
    const before = accounts();
    const steps = commands.map(({ args }) => stepsOf(args));
    for (let round = 0; round < KILLS; round += 1) {
      for (const [index, { args, from, to }] of commands.entries()) {
        const step = pointsOf(steps[index] ?? 0)[round] ?? 1;
        const where = `${args[0]} killed at step ${step} of ${steps[index]}`;
        const wasKilled = killedAt(step, args);
        assert.ok([from, to].includes(version()), where);
        const again = farwharfServer(...args);
        // A rollback that was killed after its last step has nothing left to do.
        if (wasKilled && args[0] === 'rollback' && again.status === 1)
          assert.match(again.stderr, /Nothing to go back to/, where);
        else if (wasKilled) assert.equal(again.status, 0, `${where}: ${again.stdout}${again.stderr}`);
        assert.equal(version(), to, where);
        assert.ok(isActive(), where);
        assert.equal(accounts(), before, where);
      }
    }
  });

  test('an uninstallation keeps the data, and one that is killed is completed by the next', async () => {
    const before = accounts();
    const steps = stepsOf(['uninstall']);
    const partsLeft = (): string =>
      server.shell(`ls -d /opt/farwharf /usr/local/bin/farwharf /usr/local/sbin/farwharf-server
      /usr/local/lib/systemd/system/farwharf.service /etc/systemd/system/multi-user.target.wants/farwharf.service`)
        .stdout;
    assert.equal(partsLeft(), '');
    assert.equal(server.shell(`test -e ${DATA}/service.db && test -e /etc/farwharf/service.toml`).status, 0);
    for (const step of pointsOf(steps)) {
      done(farwharfServer('install', 'OWN'));
      if (killedAt(step, ['uninstall']) && partsLeft() !== '') done(farwharfServer('uninstall'));
      assert.equal(partsLeft(), '', `killed at step ${step} of ${steps}`);
    }
    done(farwharfServer('install', 'OWN'));
    assert.equal(accounts(), before);
    done(farwharfServer('uninstall'));
  });

  test('an installation that is killed at any step is completed when it is repeated', async () => {
    const clear = `rm -rf ${ALL}; userdel farwharf`;
    done(server.shell(clear));
    const steps = stepsOf(['install', 'OWN']);
    for (const step of pointsOf(steps)) {
      server.shell('sh /shared/package/server/farwharf-server uninstall');
      server.shell(clear);
      killedAt(step, ['install', 'OWN']);
      done(farwharfServer('install', 'OWN'));
      await untilHealthy(own.version);
      assert.equal(version(), own.version, `killed at step ${step} of ${steps}`);
    }
    assert.ok(!existsSync('/opt/farwharf'), 'this machine has nothing of it');
  });
}
