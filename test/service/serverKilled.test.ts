import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { DATA, describeOnServer, done } from './support/installedService.ts';

// Of each command, so many points at which it is killed: an installation has about 150 steps, each of which takes seconds to try.
const KILLS = Number(process.env['FARWHARF_TEST_TIMES'] ?? 1);
const ALL = '/opt/farwharf /etc/farwharf /var/lib/farwharf /var/backups/farwharf /var/log/farwharf';
// Kills the shell before the given command, and counts the commands.
const KILL_HOOK = `set -T
steps=0
trap 'steps=$((steps + 1)); echo $steps > /shared/steps; [ "$steps" != "$KILL_AT" ] || kill -9 $$' DEBUG
`;

await describeOnServer('a server on which farwharf-server is killed', (service) => {
  before(() => {
    writeFileSync(join(service().server.shared, 'kill.sh'), KILL_HOOK);
    done(service().farwharfServer('install', 'OWN'));
    done(service().admin('account add ada --credits 100'));
  });

  /** Runs a command that is killed before its step number `step`, waits for what it has started, and returns whether it was killed. */
  const killedAt = (step: number, args: readonly string[]): boolean => {
    const env = { BASH_ENV: '/shared/kill.sh', KILL_AT: String(step) };
    const { status } = service().server.run('bash', service().command(args), { env });
    // A program that it has started holds the lock.
    done(service().server.shell('flock /run/farwharf-server.lock true'));
    return status !== 0;
  };
  const stepsOf = (args: readonly string[]): number => {
    assert.equal(killedAt(0, args), false);
    return Number(readFileSync(join(service().server.shared, 'steps'), 'utf8'));
  };
  /** Points of a command that are spread over it, others each time. */
  const pointsOf = (steps: number): number[] =>
    Array.from({ length: KILLS }, (_, part) => 1 + Math.floor(((part + Math.random()) * steps) / KILLS));

  test('an upgrade or a rollback that is killed leaves one complete version, and does the rest when it is repeated', async () => {
    const commands = [
      { args: ['upgrade', 'NEXT'], from: service().ownVersion, to: '90.0.0' },
      { args: ['rollback'], from: '90.0.0', to: service().ownVersion },
    ];
    const before = service().accounts();
    const steps = commands.map(({ args }) => stepsOf(args));
    for (let round = 0; round < KILLS; round += 1) {
      for (const [index, { args, from, to }] of commands.entries()) {
        const step = pointsOf(steps[index] ?? 0)[round] ?? 1;
        const where = `${args[0]} killed at step ${step} of ${steps[index]}`;
        const wasKilled = killedAt(step, args);
        assert.ok([from, to].includes(service().version()), where);
        const again = service().farwharfServer(...args);
        // A rollback that was killed after its last step has nothing left to do.
        if (wasKilled && args[0] === 'rollback' && again.status === 1)
          assert.match(again.stderr, /Nothing to go back to/, where);
        else if (wasKilled) assert.equal(again.status, 0, `${where}: ${again.stdout}${again.stderr}`);
        assert.equal(service().version(), to, where);
        assert.ok(service().isActive(), where);
        assert.equal(service().accounts(), before, where);
      }
    }
  });

  test('an uninstallation keeps the data, and one that is killed is completed by the next', async () => {
    const before = service().accounts();
    const steps = stepsOf(['uninstall']);
    const partsLeft = (): string =>
      service().server.shell(`ls -d /opt/farwharf /usr/local/bin/farwharf /usr/local/sbin/farwharf-server
      /usr/local/lib/systemd/system/farwharf.service /etc/systemd/system/multi-user.target.wants/farwharf.service`)
        .stdout;
    assert.equal(partsLeft(), '');
    assert.equal(service().server.shell(`test -e ${DATA}/service.db && test -e /etc/farwharf/service.toml`).status, 0);
    for (const step of pointsOf(steps)) {
      done(service().farwharfServer('install', 'OWN'));
      if (killedAt(step, ['uninstall']) && partsLeft() !== '') done(service().farwharfServer('uninstall'));
      assert.equal(partsLeft(), '', `killed at step ${step} of ${steps}`);
    }
    done(service().farwharfServer('install', 'OWN'));
    assert.equal(service().accounts(), before);
    done(service().farwharfServer('uninstall'));
  });

  test('an installation that is killed at any step is completed when it is repeated', async () => {
    const clear = `rm -rf ${ALL}; userdel farwharf`;
    done(service().server.shell(clear));
    const steps = stepsOf(['install', 'OWN']);
    for (const step of pointsOf(steps)) {
      service().server.shell('sh /shared/package/server/farwharf-server uninstall');
      service().server.shell(clear);
      killedAt(step, ['install', 'OWN']);
      done(service().farwharfServer('install', 'OWN'));
      await service().untilHealthy(service().ownVersion);
      assert.equal(service().version(), service().ownVersion, `killed at step ${step} of ${steps}`);
    }
    assert.ok(!existsSync('/opt/farwharf'), 'this machine has nothing of it');
  });
});
