import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { jsonLines, type RunOptions, Scratch, until } from './commandLine.ts';
import { sshIsMissing, SshServer } from './support/sshServer.ts';

const missing = await sshIsMissing();
const skip = missing === undefined ? false : `NO SSH SERVER: ${missing}`;

interface Lab extends AsyncDisposable {
  readonly scratch: Scratch;
  readonly server: SshServer;
  /** Runs `farwharf connect testbox` with these flags. */
  connect(flags?: readonly string[], options?: RunOptions): ReturnType<Scratch['run']>;
}

async function openLab(options: readonly string[] = []): Promise<Lab> {
  const scratch = await Scratch.create();
  const server = await SshServer.create();
  await server.start(options);
  const connect: Lab['connect'] = (flags = [], runOptions = {}) =>
    scratch.run(
      ['connect', 'testbox', '--ssh-config', server.config, '--node', process.execPath, ...flags],
      runOptions,
    );
  return {
    scratch,
    server,
    connect,
    [Symbol.asyncDispose]: async () => {
      await using _scratch = scratch;
      await using _server = server;
      await scratch.run(['connect', 'testbox', '--remove', '--yes']);
    },
  };
}

const listing = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true })).toSorted();

describe('a machine over SSH', { skip }, () => {
  test('is connected, runs a job whose connection is cut, and is left as it was', async () => {
    await using lab = await openLab(['MaxSessions 1', 'AllowTcpForwarding no', 'AllowStreamLocalForwarding no']);
    const { scratch, server } = lab;
    // What login shells print must not matter.
    await writeFile(join(server.home, '.bashrc'), 'echo "Welcome, unread mail: 3"; echo "warning" >&2\n');
    const before = await listing(server.home);

    const connected = await lab.connect(['--json']);
    assert.equal(connected.exit, 0, connected.stderr);
    assert.deepEqual(
      { ...jsonLines(connected.stdout)[0], version: undefined },
      { name: 'testbox', address: 'testbox', executor: 'process', version: undefined },
    );
    const root = join(server.home, '.local/share/farwharf-service');
    const [run = ''] = (await readdir(root)).filter((name) => name.startsWith('run-'));
    assert.equal((await stat(join(root, run))).mode & 0o777, 0o700);
    assert.equal((await stat(join(root, run, 'sock'))).mode & 0o777, 0o600);

    const listed = await scratch.run(['machines', '--json']);
    const machines: unknown = jsonLines(listed.stdout)[0]?.['machines'];
    assert.match(JSON.stringify(machines), /"name":"testbox".*"answers":true/);

    const gate = join(server.root, 'gate');
    const folder = await scratch.folder('work', {
      'train.sh': `for i in 1 2 3; do echo step $i; done\nwhile [ ! -e ${gate} ]; do sleep 0.05; done\necho step 4 > result.txt; echo step 4\n`,
    });
    // The line is still broken when the command connects again.
    const broken = ['broken-1', 'broken-2'].map((name) => join(server.root, name));
    const ssh = join(server.root, 'ssh-broken');
    const attempts = broken.map((path) => `rm ${path} 2> /dev/null && exit 255`).join('\n');
    await writeFile(ssh, `#!/bin/sh\n${attempts}\nexec ssh "$@"\n`, { mode: 0o755 });
    const breakLine = async (): Promise<void> => {
      for (const path of broken) await writeFile(path, '');
      await server.cut();
      await writeFile(gate, '');
    };
    let isCut = false;
    const job = await scratch.run(['submit', folder, '--script', 'train.sh', '--watch', '--download'], {
      env: { FARWHARF_REMOTE_HOST: 'testbox', FARWHARF_SSH: ssh },
      onOutput: ({ stdout }) => {
        if (isCut || !stdout.includes('step 3')) return;
        isCut = true;
        void breakLine();
      },
    });
    assert.equal(job.exit, 0, job.stderr);
    assert.deepEqual(
      broken.filter((path) => existsSync(path)),
      [],
      'both attempts failed',
    );
    assert.equal(job.stdout, 'step 1\nstep 2\nstep 3\nstep 4\n');
    assert.equal(await readFile(join(folder, 'result.txt'), 'utf8'), 'step 4\n');

    await scratch.run(['submit', await scratch.folder('endless', { 'run.sh': 'sleep 1000\n' }), '--script', 'run.sh'], {
      env: { FARWHARF_REMOTE_HOST: 'testbox' },
    });
    const refused = await lab.connect(['--remove']);
    assert.equal(refused.exit, 1);
    assert.match(refused.stderr, /1 job has not ended on testbox, so nothing was removed/);
    const removed = await lab.connect(['--remove', '--yes', '--json']);
    assert.equal(removed.exit, 0, removed.stderr);
    assert.deepEqual(await listing(server.home), before);
    assert.deepEqual(jsonLines((await scratch.run(['machines', '--json'])).stdout), [{ machines: [] }]);
  });

  test('that cannot be reached or trusted is named with what to do', async () => {
    await using lab = await openLab();
    const { scratch, server } = lab;
    await server.know('other');
    const changed = await lab.connect();
    assert.match(changed.stderr, /host key of testbox has changed .*impersonating it\. Nothing was sent/);
    await writeFile(join(server.root, 'known_hosts'), '');
    assert.match((await lab.connect()).stderr, /host key of testbox is not known .* compare the fingerprint/);
    await server.know('host');
    await writeFile(join(server.root, 'authorized_keys'), '');
    const denied = await lab.connect();
    assert.match(denied.stderr, /testbox did not accept your SSH login \(Permission denied/);
    await server.stop();
    const off = await lab.connect(['--json']);
    assert.equal(off.exit, 5);
    assert.match(off.stderr, /testbox refuses SSH connections/);
    const unknown = await scratch.run(['connect', 'nobody@no-such-host.invalid']);
    assert.match(unknown.stderr, /The name no-such-host\.invalid is unknown/);
    const option = await scratch.run(['connect', '--', '-oProxyCommand=touch pwned']);
    assert.equal(option.exit, 2);
    assert.match(option.stderr, /The destination is not valid/);
    const local = await scratch.run(['connect', 'me@local']);
    assert.match(local.stderr, /"local" is this machine/);
    const missing = await scratch.run(['me', '--remote', 'testbox']);
    assert.equal(missing.exit, 2);
    assert.match(missing.stderr, /No machine named testbox is connected/);
    assert.deepEqual(await listing(server.home), []);
  });

  test('that has the address of another one behind another jump host is a machine of its own', async () => {
    await using lab = await openLab();
    const { scratch, server } = lab;
    await using other = await SshServer.create();
    await other.start();
    // As with the private addresses of two sites.
    const jump = `ssh -F ${other.config} -W 127.0.0.1:${other.port} testbox`;
    await appendFile(
      server.config,
      `Host twin\n HostName 127.0.0.1\n Port ${server.port}\n IdentityFile ${join(other.root, 'id')}\n IdentitiesOnly yes\n` +
        ` UserKnownHostsFile ${join(other.root, 'known_hosts')}\n HostKeyAlias testbox\n BatchMode yes\n ProxyCommand ${jump}\n`,
    );
    const first = await lab.connect();
    assert.equal(first.exit, 0, first.stderr);
    const twin = ['connect', 'twin', '--ssh-config', server.config];
    const second = await scratch.run([...twin, '--node', process.execPath]);
    assert.equal(second.exit, 0, second.stderr);
    assert.ok(existsSync(join(other.home, '.local/share/farwharf-service')), 'installed on the other machine');
    const removed = await scratch.run([...twin, '--remove', '--yes']);
    assert.equal(removed.exit, 0, removed.stderr);
    assert.deepEqual(await listing(other.home), []);
    assert.ok(existsSync(join(server.home, '.local/share/farwharf-service')), 'the first one is left');
  });

  test('on which a startup file leaves a process in the background is not waited for', {
    timeout: 90_000,
  }, async () => {
    await using lab = await openLab();
    const { scratch, server } = lab;
    const left = join(server.root, 'left');
    // It holds the output of the session.
    await writeFile(join(server.home, '.bashrc'), `sleep 1000 & echo $! >> ${left}\n`);
    try {
      const connected = await lab.connect();
      assert.equal(connected.exit, 0, connected.stderr);
      const folder = await scratch.folder('work', { 'run.sh': 'echo ran\n' });
      const job = await scratch.run(['submit', folder, '--script', 'run.sh', '--watch', '--remote', 'testbox']);
      assert.equal(job.exit, 0, job.stderr);
      assert.equal(job.stdout, 'ran\n');
      await writeFile(join(server.home, '.bashrc'), `sleep 1000 & echo $! >> ${left}; exit 7\n`);
      const ended = await scratch.run(['machines']);
      assert.match(ended.stdout, /testbox .* does not answer/);
    } finally {
      for (const pid of (await readFile(left, 'utf8')).trim().split('\n')) process.kill(Number(pid));
      await writeFile(join(server.home, '.bashrc'), '');
    }
  });

  test('whose shell or Node.js is of no use is not reported as one that refuses the login', async () => {
    await using lab = await openLab();
    const { scratch, server } = lab;
    const connect = async (node: string): Promise<string> =>
      (await scratch.run(['connect', 'testbox', '--ssh-config', server.config, '--node', node])).stderr;
    assert.match(await connect('/no/such/node'), /\/no\/such\/node is not a program on testbox that you may run\./);
    const program = async (name: string, script: string): Promise<string> => {
      await writeFile(join(server.root, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return join(server.root, name);
    };
    assert.match(await connect(await program('old', 'echo v20.1.0')), /old on testbox is version v20\.1\.0\. .*--node/);
    assert.match(await connect(await program('broken', 'exit 126')), /broken on testbox does not start as Node\.js\./);
    await writeFile(
      join(server.home, '.bashrc'),
      'printf "data: Permission denied\\n\\033[31mno quota\\n" >&2; exit 7\n',
    );
    assert.match(
      (await lab.connect()).stderr,
      /testbox lets you log in, but your login shell there ended with exit status 7 .* Its last line: no quota\. Check that `ssh testbox true` succeeds/,
    );
    await writeFile(join(server.home, '.bashrc'), '');
    await appendFile(server.config, 'Host behind\n HostName 127.0.0.1\n ProxyCommand exit 1\n');
    const behind = await scratch.run(['connect', 'behind', '--ssh-config', server.config]);
    assert.match(
      behind.stderr,
      /The connection to behind was closed before the login: its jump host .* was not reached/,
    );
  });

  test('that no longer exists can be taken from the list', async () => {
    await using lab = await openLab();
    const { scratch, server } = lab;
    assert.equal((await lab.connect()).exit, 0);
    assert.equal((await scratch.run(['connect', 'testbox', '--remove', '--forget'])).exit, 2);
    await server.stop();
    const refused = await scratch.run(['connect', 'testbox', '--remove', '--yes']);
    assert.equal(refused.exit, 5);
    assert.match(refused.stderr, /If testbox no longer exists: {2}farwharf connect testbox --forget/);
    const forgotten = await scratch.run(['connect', 'testbox', '--forget']);
    assert.equal(forgotten.exit, 0, forgotten.stderr);
    assert.match(forgotten.stderr, /testbox is no longer in the list\. What Farwharf stored there was not deleted\./);
    assert.deepEqual(jsonLines((await scratch.run(['machines', '--json'])).stdout), [{ machines: [] }]);
    await server.start();
    assert.equal((await lab.connect()).exit, 0, 'it can be connected again, and removed');
  });

  test('without room for the service keeps nothing half-installed, wherever the copy is cut', async () => {
    await using lab = await openLab();
    const { scratch, server } = lab;
    for (const bytes of [10_000, 200_000]) {
      // An ssh that breaks after so many bytes were sent.
      const cutting = join(server.root, `ssh-${bytes}`);
      await writeFile(
        cutting,
        `#!/bin/sh\ncase "$*" in *tmp/file*) head -c ${bytes} | ssh "$@";; *) exec ssh "$@";; esac\n`,
        {
          mode: 0o755,
        },
      );
      const cut = await lab.connect([], { env: { FARWHARF_SSH: cutting } });
      assert.equal(cut.exit, 5, cut.stderr);
      assert.match(cut.stderr, /connection to testbox was lost while Farwharf was copied, so nothing is installed/);
      const root = join(server.home, '.local/share/farwharf-service');
      await until(async () => (await readdir(root)).every((name) => !name.startsWith('tmp.')));
      assert.deepEqual(await readdir(root), ['parents']);
    }
    await mkdir(join(scratch.root, 'bin'));
    const full = join(scratch.root, 'bin', 'ssh');
    await writeFile(
      full,
      // The reason arrives after the exit, as it can on a busy machine.
      '#!/bin/sh\ncase "$*" in *tmp/file*) (sleep 0.3; echo "mkdir: cannot create directory: Disk quota exceeded" >&2) > /dev/null & exit 91;; *) exec ssh "$@";; esac\n',
      { mode: 0o755 },
    );
    const quota = await lab.connect([], { env: { FARWHARF_SSH: full } });
    assert.match(quota.stderr, /home folder on testbox is over its quota\. Free some space there/);
    assert.equal((await lab.connect()).exit, 0);
  });
});
