import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GATE } from './support/gate.ts';
import { DATA, describeOnServer, done } from './support/installedService.ts';
import type { Ran } from './support/serverMachine.ts';
import type { JobBody } from './support/service.ts';

function refused(ran: Ran, why: RegExp): void {
  assert.equal(ran.status, 1, ran.stdout + ran.stderr);
  assert.match(ran.stderr, why);
}

await describeOnServer('a server on which the service is installed', (service) => {
  let key = '';
  /** The command line of a user, ada. */
  const client = (line: string): Ran => {
    const env = { FARWHARF_REMOTE_HOST: 'http://127.0.0.1:8787', FARWHARF_API_KEY: key, FARWHARF_HOME: '/tmp/client' };
    return done(service().server.run('bash', ['-c', `farwharf ${line}`], { env }));
  };
  const jobOf = (id: string): JobBody => JSON.parse(done(service().admin(`job ${id} --json`)).stdout) as JobBody;
  const untilState = async (id: string, state: string): Promise<void> => {
    while (jobOf(id).state !== state) await sleep(200);
  };
  /** A job that runs until its gate is opened. */
  const untilRunning = async (): Promise<string> => {
    done(service().server.shell(`mkdir -p /tmp/gated && echo '${GATE}; echo made > result.txt' > /tmp/gated/a.sh`));
    const id = client('submit /tmp/gated --script a.sh').stdout.trim();
    await untilState(id, 'running');
    return id;
  };
  const openGate = (id: string): void => {
    done(service().server.shell(`runuser -u farwharf touch ${DATA}/jobs/${id}/workspace/.open-gate`));
  };
  test('what cannot be installed is refused with a reason, and changes nothing', () => {
    refused(service().farwharfServer('upgrade', 'OWN'), /not installed/);
    refused(service().farwharfServer('rollback'), /Nothing to go back to/);
    refused(service().farwharfServer('uninstall'), /not installed/);
    refused(service().farwharfServer('install', '/shared/missing.tgz'), /does not exist/);
    refused(service().farwharfServer('install', '/shared/node'), /not a tarball of Farwharf/);
    refused(service().farwharfServer('instal', 'OWN'), /Usage/);
    refused(
      service().server.run('runuser', [
        '-u',
        'nobody',
        '--',
        'sh',
        '/shared/package/server/farwharf-server',
        'rollback',
      ]),
      /Only root/,
    );
    done(service().server.shell('touch /etc/systemd/system/farwharf.service'));
    refused(service().farwharfServer('install', 'OWN'), /farwharf.service was not made by farwharf-server/);
    done(service().server.shell('rm -r /etc/systemd/system/farwharf.service /opt/farwharf'));
    assert.notEqual(service().server.shell('getent passwd farwharf').status, 0);
  });

  test('an installation runs the service, and can be repeated', async () => {
    const { stderr } = done(service().farwharfServer('install', 'OWN'));
    assert.match(stderr, /ok +jobs are isolated by bubblewrap/);
    await service().untilHealthy(service().ownVersion);
    assert.equal(service().version(), service().ownVersion);
    done(service().admin('account add ada --name Ada --credits 100'));
    const pid = service().server.shell('systemctl show -p MainPID farwharf').stdout;
    done(service().farwharfServer('install', 'OWN'));
    assert.equal(service().server.shell('systemctl show -p MainPID farwharf').stdout, pid, 'it was not restarted');
    refused(service().farwharfServer('install', 'NEXT'), /farwharf-server upgrade/);
    assert.match(service().server.shell('systemctl is-enabled farwharf').stdout, /^enabled/);
    const modes = done(service().server.shell(`stat -c '%a %U %n' ${DATA} /etc/farwharf/service.toml`)).stdout;
    assert.equal(modes, `700 farwharf ${DATA}\n640 root /etc/farwharf/service.toml\n`);
  });

  test('a job runs in its sandbox under the unit, and what the unit denies is denied to it', async () => {
    // Jobs of a class wait until the machine has as much memory, which this one may not have now.
    done(
      service().server.shell(
        "sed -i 's/memory_gb = 4/memory_gb = 0.1/' /etc/farwharf/service.toml && systemctl restart farwharf",
      ),
    );
    await service().untilHealthy(service().ownVersion);
    key = done(service().admin('key add ada')).stdout.trim();
    // Families 17 and 2 are AF_PACKET and AF_INET; 298 is perf_event_open on x86-64.
    const script = `set -e
      echo "home: $(ls -A /home)" "store: $(ls ${DATA}/service.db 2> /dev/null)"
      node -e 'new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); console.log("node:", 6 * 7)'
      perl -e 'print "packet: ", socket(my $s, 17, 3, 0) ? "open" : $!, "\n"'
      perl -e 'print "internet: ", socket(my $s, 2, 1, 0) ? "open" : $!, "\n"'
      [ "$(uname -m)" != x86_64 ] || perl -e 'print "perf: ", syscall(298, 0, 0, -1, -1, 0) < 0 ? $! : "open", "\n"'`;
    writeFileSync(join(service().server.shared, 'job.sh'), script);
    done(service().server.shell('mkdir -p /tmp/folder && cp /shared/job.sh /tmp/folder/'));
    const { stdout } = client('submit /tmp/folder --script job.sh --watch');
    assert.match(stdout, /^home: {2}store: $/m);
    assert.match(stdout, /^node: 42$/m);
    // Without the unit, the kernel would answer that it is not permitted, and that an address is bad.
    assert.match(stdout, /^packet: Address family not supported by protocol$/m);
    assert.match(stdout, /^internet: open$/m);
    if (process.arch === 'x64') assert.match(stdout, /^perf: Operation not permitted$/m);
  });

  test('an upgrade keeps accounts, and a rollback to a version that reads the store keeps what came since', async () => {
    done(service().farwharfServer('upgrade', 'NEXT'));
    await service().untilHealthy('90.0.0');
    done(service().farwharfServer('upgrade', 'NEXT'));
    done(service().admin('account add bob --credits 5'));
    done(service().farwharfServer('rollback'));
    await service().untilHealthy(service().ownVersion);
    assert.match(service().accounts(), /"ada".*"bob"/s);
    refused(service().farwharfServer('rollback'), /Nothing to go back to/);
  });

  test('a rollback to a version that cannot read the store needs the copy, and says what that costs', async () => {
    const [across, over] = [await untilRunning(), await untilRunning()];
    done(service().farwharfServer('upgrade', 'CHANGED'));
    await service().untilHealthy('91.0.0');
    done(service().admin('account add carol --credits 5'));
    openGate(over);
    await untilState(over, 'succeeded');
    refused(service().farwharfServer('rollback'), /has changed its format.*rollback --restore-store/s);
    await service().untilHealthy('91.0.0');
    done(service().farwharfServer('rollback', '--restore-store'));
    await service().untilHealthy(service().ownVersion);
    assert.match(service().accounts(), /"ada"/);
    assert.doesNotMatch(service().accounts(), /carol/);
    // One job still runs, and the other has ended in the store that is gone.
    assert.equal(jobOf(across).state, 'running');
    openGate(across);
    await untilState(across, 'succeeded');
    const { state, reason, credits_charged: charged } = jobOf(over);
    assert.deepEqual([state, charged], ['lost', 0]);
    assert.match(reason ?? '', /replaced the database with an earlier copy/);
    assert.match(client(`download ${over} --into /tmp/over && cat /tmp/over/result.txt`).stdout, /^made$/m);
    const kept = done(service().server.shell('ls -d /var/backups/farwharf/after-91.0.0-*/service.db')).stdout;
    assert.equal(kept.trim().split('\n').length, 1);
  });

  test('a version that does not start is replaced by the one before, with its store', async () => {
    const before = service().accounts();
    refused(service().farwharfServer('upgrade', 'BROKEN'), /This version is broken.*runs again/s);
    await service().untilHealthy(service().ownVersion);
    assert.equal(service().accounts(), before);
    assert.equal(service().version(), service().ownVersion);
  });

  test('an upgrade whose configuration is wrong changes nothing', async () => {
    done(
      service().server.shell(
        'cp /etc/farwharf/service.toml /shared/kept.toml; echo "[nonsense]" >> /etc/farwharf/service.toml',
      ),
    );
    refused(service().farwharfServer('upgrade', 'NEXT'), /does not accept the configuration/);
    done(service().server.shell('cat /shared/kept.toml > /etc/farwharf/service.toml; systemctl restart farwharf'));
    await service().untilHealthy(service().ownVersion);
    assert.equal(service().version(), service().ownVersion);
  });
});
