import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findMachine } from '../../src/machines/machineRecords.ts';
import { openTunnel } from '../../src/machines/machineTunnel.ts';
import { jsonLines, Scratch, until } from './commandLine.ts';
import type { SlurmCluster } from '../../scripts/slurm/cluster.ts';
import { describeOnCluster } from './support/slurm.ts';
import { sshIsMissing, SshServer } from './support/sshServer.ts';

const ROOT = '.local/share/farwharf-service';
// After ten seconds without a client, such a service ends.
const DISCONNECTED_MS = 13_000;

const missing = await sshIsMissing();
if (missing !== undefined) test('a login node', (t) => t.skip(`NO SSH SERVER: ${missing}`));
else {
  const declare = (cluster: () => SlurmCluster): void => {
    const open = async (t: TestContext, env: Readonly<Record<string, string>> = cluster().env) => {
      const scratch = await Scratch.create();
      const server = await SshServer.create({ PATH: process.env['PATH'] ?? '', ...env });
      await server.start();
      const connect = (...flags: string[]) =>
        scratch.run(['connect', 'testbox', '--ssh-config', server.config, '--node', process.execPath, ...flags]);
      t.after(async () => {
        await connect('--remove', '--yes');
        await server[Symbol.asyncDispose]();
        await scratch[Symbol.asyncDispose]();
      });
      const config = (): Promise<string> => readFile(join(server.home, ROOT, 'service.toml'), 'utf8');
      return { scratch, server, connect, config };
    };

    /** A machine whose service ends without clients, and has ended. */
    const openWhileConnected = async (t: TestContext) => {
      const { connect, config, ...rest } = await open(t);
      assert.equal((await connect('--yes')).exit, 0);
      const root = join(rest.server.home, ROOT);
      const text = (await config()).replace('[slurm]', '[slurm]\nservice = "while-connected"');
      await writeFile(join(root, 'service.toml'), text);
      const state = join(root, 'home/service/state.json');
      const isRunning = (): boolean => existsSync(state);
      const pidOf = async (): Promise<number> =>
        (JSON.parse(await readFile(state, 'utf8')) as { readonly pid: number }).pid;
      process.kill(await pidOf(), 'SIGTERM');
      await until(() => !isRunning());
      return { ...rest, isRunning, pidOf };
    };

    test('offers machine classes for the partitions that its user may use, with which jobs run on its nodes', async (t) => {
      await cluster().command('scontrol', 'create', 'PartitionName=barred', 'Nodes=large1', 'AllowAccounts=physics');
      await cluster().command('scontrol', 'create', 'PartitionName=reserved', 'Nodes=large1', 'ReqResv=YES');
      const { scratch, server, connect, config } = await open(t);
      const before = await readdir(server.home);
      const connected = await connect('--yes', '--json');
      assert.equal(connected.exit, 0, connected.stderr);
      assert.equal(jsonLines(connected.stdout)[0]?.['executor'], 'slurm');
      assert.match(connected.stderr, /testbox is a login node of a Slurm cluster/);
      assert.match(connected.stderr, /^ {2}cpu-small: \d+ cores?, [\d.]+ GB\. Partition cpu-small/m);
      assert.match(await config(), /^executor = "slurm"$[^]*^partition = "cpu-small"$/m);
      // All but what the node reserves for its system.
      assert.match(connected.stderr, /^ {2}cpu-large: 3 cores, 10\.7 GB\. Partition cpu-large, a whole node/m);
      assert.doesNotMatch(connected.stderr + (await config()), /barred|reserved/);

      const folder = await scratch.folder('work', { 'run.sh': 'echo "ran in $SLURM_JOB_PARTITION"\n' });
      const env = { FARWHARF_REMOTE_HOST: 'testbox' };
      for (const partition of ['cpu-small', 'cpu-large']) {
        const flags = ['--script', 'run.sh', '--machine-class', partition, '--watch'];
        const job = await scratch.run(['submit', folder, ...flags], { env });
        assert.equal(job.exit, 0, job.stderr);
        assert.equal(job.stdout, `ran in ${partition}\n`);
      }
      const removed = await connect('--remove', '--yes');
      assert.equal(removed.exit, 0, removed.stderr);
      assert.deepEqual(await readdir(server.home), before);
    });

    test('where nothing may keep running follows jobs again when somebody connects', async (t) => {
      const { scratch, server, isRunning } = await openWhileConnected(t);
      const gate = join(server.root, 'gate');
      const script = `echo begun; until [ -e ${gate} ]; do sleep 0.1; done; echo done; mkdir -p out; echo 1 > out/one.txt\n`;
      const folder = await scratch.folder('work', { 'run.sh': script });
      const env = { FARWHARF_REMOTE_HOST: 'testbox' };
      const sent = await scratch.run(['submit', folder, '--script', 'run.sh', '--json'], { env });
      const id = String(jsonLines(sent.stdout)[0]?.['job_id']);
      await until(async () => (await cluster().command('squeue', '-h', '-t', 'RUNNING', '-o', '%j')) !== '');
      await until(() => !isRunning());
      assert.notEqual(await cluster().command('squeue', '-h', '-t', 'RUNNING', '-o', '%j'), '', 'the job runs on');
      await writeFile(gate, '');
      const watched = await scratch.run(['watch', id], { env });
      assert.equal(watched.exit, 0, watched.stderr);
      assert.equal(watched.stdout, 'begun\ndone\n');
      assert.equal((await scratch.run(['download', id], { env })).exit, 0);
      assert.equal(await readFile(join(folder, 'out/one.txt'), 'utf8'), '1\n');
    });

    test('where nothing may keep running hands over a job before it ends, and follows jobs after a crash for all clients', async (t) => {
      const { scratch, server, isRunning, pidOf } = await openWhileConnected(t);

      // Nobody is connected while the cluster does not take the job.
      await cluster().end('slurmctld');
      const gate = join(server.root, 'gate');
      const script = `echo begun; until [ -e ${gate} ]; do sleep 0.1; done; echo done\n`;
      const folder = await scratch.folder('work', { 'run.sh': script });
      const env = { FARWHARF_REMOTE_HOST: 'testbox' };
      const sent = await scratch.run(['submit', folder, '--script', 'run.sh', '--json'], { env });
      assert.equal(sent.exit, 0, sent.stderr);
      const id = String(jsonLines(sent.stdout)[0]?.['job_id']);
      await sleep(DISCONNECTED_MS);
      assert.ok(isRunning(), 'it stays until the cluster has the job');
      cluster().restart('slurmctld');
      await until(async () => (await cluster().command('squeue', '-h', '-t', 'RUNNING', '-o', '%j')) !== '');
      await until(() => !isRunning());

      // Two clients follow it; the service is killed, and then one of them leaves.
      const leaving = new AbortController();
      const watch = (signal?: AbortSignal) => {
        const begun = Promise.withResolvers<void>();
        const onOutput = ({ stdout }: { readonly stdout: string }): void =>
          void (stdout.includes('begun') && begun.resolve());
        return {
          begun: begun.promise,
          ended: scratch.run(['watch', id], { env, onOutput, ...(signal && { signal }) }),
        };
      };
      const [staying, other] = [watch(), watch(leaving.signal)];
      await Promise.all([staying.begun, other.begun]);
      const killed = await pidOf();
      process.kill(killed, 'SIGKILL');
      await until(async () => isRunning() && (await pidOf()) !== killed);
      leaving.abort();
      await other.ended;
      await sleep(DISCONNECTED_MS);
      assert.ok(isRunning(), 'one client is still connected');
      await writeFile(gate, '');
      const watched = await staying.ended;
      assert.equal(watched.exit, 0, watched.stderr);
      assert.equal(watched.stdout, 'begun\ndone\n');
      await until(() => !isRunning());
    });

    test('where nothing may keep running stays for a client that has nothing to ask, and ends without it', async (t) => {
      const { scratch, isRunning, pidOf } = await openWhileConnected(t);
      const machine = findMachine(scratch.home, 'testbox');
      assert.ok(machine);
      const client = { home: scratch.home, env: process.env };
      const tunnel = await openTunnel({ client, target: machine, machine: 'testbox' }, machine.build);
      t.after(() => tunnel.close());
      const first = await pidOf();
      await sleep(DISCONNECTED_MS);
      assert.equal(await pidOf(), first);
      tunnel.close();
      await until(() => !isRunning());
    });

    test('runs jobs itself if the offer is not accepted, and on the cluster once it is', async (t) => {
      const { connect, config } = await open(t);
      const declined = await connect();
      assert.equal(declined.exit, 0, declined.stderr);
      assert.match(declined.stderr, /Jobs run on testbox itself\. For the cluster: {2}farwharf connect testbox --yes/);
      await assert.rejects(config(), { code: 'ENOENT' });
      const accepted = await connect('--yes', '--json');
      assert.equal(jsonLines(accepted.stdout)[0]?.['executor'], 'slurm', accepted.stderr);
    });

    test('keeps a configuration that its user wrote, and says why a cluster that does not respond is not used', async (t) => {
      const { server, connect, config } = await open(t, { SLURM_CONF: '/dev/null' });
      const unusable = await connect('--yes', '--json');
      assert.equal(jsonLines(unusable.stdout)[0]?.['executor'], 'process', unusable.stderr);
      assert.match(
        unusable.stderr,
        /testbox has Slurm, but its cluster cannot be used: The cluster cannot be asked: Slurm's programs .* no valid configuration .*\. Jobs run on testbox itself/,
      );
      await connect('--remove', '--yes');
      await mkdir(join(server.home, ROOT), { recursive: true, mode: 0o700 });
      const own = 'executor = "process"\n';
      await writeFile(join(server.home, ROOT, 'service.toml'), own, { mode: 0o600 });
      const connected = await connect('--yes', '--json');
      assert.equal(jsonLines(connected.stdout)[0]?.['executor'], 'process', connected.stderr);
      assert.doesNotMatch(connected.stderr, /Slurm/);
      assert.equal(await config(), own);
    });

    test('whose programs answer with anything and much of it is offered and configured with what is usable', async (t) => {
      const hostile = [
        'good*|up|4|4000|(null)|1:00:00',
        'e\u001b]0;x\u0007|up|4|4000|(null)|1:00',
        'q"]\n[slurm]\nnode = "/tmp/x|up|4|4000|(null)|1:00',
        `long|up|4|4000|gpu:${'t'.repeat(400_000)}:2,gpu:a100:99999999999999999999|1:00`,
        `${'n'.repeat(400_000)}|up|4|4000|(null)|1:00`,
        'huge|up|4|999999999999999999999|(null)|1:00',
      ];
      const bin = await mkdtemp(join(tmpdir(), 'farwharf-bin-'));
      t.after(() => rm(bin, { recursive: true }));
      const program = async (name: string, lines: readonly string[]): Promise<void> => {
        await writeFile(join(bin, `${name}.txt`), `${lines.join('\n')}\n`);
        await writeFile(join(bin, name), `#!/bin/sh\ncat '${join(bin, name)}.txt'\n`, { mode: 0o755 });
      };
      await program('sinfo', hostile);
      await program('sacctmgr', [
        'physics|normal"\u001b[2J',
        ...Array.from({ length: 100_000 }, (_, index) => `a${index}|q${index}`),
      ]);
      await program(
        'scontrol',
        Array.from({ length: 40 }, () => 'x'.repeat(1_000_000)),
      );
      const { connect, config } = await open(t, { ...cluster().env, PATH: `${bin}:${process.env['PATH'] ?? ''}` });
      const connected = await connect('--yes', '--json');
      assert.equal(connected.exit, 0, connected.stderr);
      assert.equal(jsonLines(connected.stdout)[0]?.['executor'], 'slurm');
      // oxlint-disable-next-line no-control-regex -- the characters that must not be printed
      assert.doesNotMatch(connected.stderr, /[\u0000-\u0009\u000b-\u001f]/);
      assert.ok(connected.stderr.length < 10_000);
      const written = await config();
      const sections = new Set(written.match(/^\[.*$/gm));
      assert.deepEqual([...sections], ['[slurm]', '[[machine_classes]]', '[machine_classes.allow]']);
      const names = [...written.matchAll(/^name = "(.*)"$/gm)].map(([, name]) => name);
      assert.deepEqual(names, ['good', 'long', 'long-node']);
    });
  };
  await describeOnCluster('a login node of a Slurm cluster', declare, { reserves: true });
}
