// A private Slurm cluster of three nodes on this machine: munged, slurmctld and three slurmd, with their own ports, keys and
// folder, from Debian's packages. `node scripts/slurm/cluster.ts FOLDER` runs one until Ctrl+C.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemCode } from '../../src/core/errors.ts';
import { programsAreMissing } from '../programs.ts';
import { NODES, slurmConf } from './slurmConf.ts';

const run = promisify(execFile);
const START_TIMEOUT_MS = 120_000;
const POLL_MS = 50;
const FIRST_PORT = 20_000;
const FIRST_PORT_OF_SYSTEM = 32_768;

/** What differs from the cluster that `node scripts/slurm/cluster.ts` starts. */
export interface ClusterOptions {
  /** Of each node, whatever the machine has. */
  readonly cpus?: number;
  /** Whether the large node reserves a processor and 1,000 MB for its system. */
  readonly reserves?: boolean;
}

/** The daemons of one cluster and where to reach it. */
export class SlurmCluster implements AsyncDisposable {
  readonly folder: string;
  readonly #options: ClusterOptions;
  readonly #daemons = new Map<string, ChildProcess>();
  readonly #programs = new Map<string, readonly string[]>();

  private constructor(folder: string, options: ClusterOptions) {
    this.folder = folder;
    this.#options = options;
  }

  /** The environment that makes Slurm's programs talk to this cluster. */
  get env(): { readonly SLURM_CONF: string } {
    return { SLURM_CONF: join(this.folder, 'etc/slurm.conf') };
  }

  /** A folder of this machine that no job can see: on the nodes an empty file system lies over it, as if their disks were their own. */
  get privateFolder(): string {
    return join(this.folder, 'private');
  }

  /** The file with a line for each mail that the cluster has sent: its subject and its address. */
  get mails(): string {
    return join(this.folder, 'log/mails');
  }

  /** A folder that the nodes share. */
  get sharedFolder(): string {
    return join(this.folder, 'shared');
  }

  /** Starts a cluster with all of its files in `folder`, which should be short: it holds a socket. */
  static async start(folder: string, options: ClusterOptions = {}): Promise<SlurmCluster> {
    const cluster = new SlurmCluster(folder, options);
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Ends one daemon at once, as a crash or a power loss of its machine would: `slurmctld` or `slurmd.<node>`. */
  async kill(daemon: string): Promise<void> {
    await this.#end(daemon, 'SIGKILL');
  }

  /** Ends one daemon as an administrator does: it saves its state. */
  async end(daemon: string): Promise<void> {
    await this.#end(daemon, 'SIGTERM');
  }

  /** Starts a daemon that was killed or ended. */
  restart(daemon: string): void {
    const [program = '', ...args] = this.#programs.get(daemon) ?? [];
    this.#launch(daemon, program, args);
  }

  /** Runs one of Slurm's programs against this cluster. */
  async command(program: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await run(program, args, { env: { ...process.env, ...this.env }, timeout: 20_000 });
    return stdout;
  }

  async untilReady(): Promise<void> {
    await until('all nodes', async () => {
      // A node is listed once for each of its partitions.
      const states = [...new Set((await this.command('sinfo', '-h', '-N', '-o', '%N %T')).trim().split('\n'))];
      // A node that a crash left drained stays drained until an administrator resumes it.
      for (const line of states) {
        const [node = '', state = ''] = line.split(' ');
        if (/^(drain|down)/.test(state)) await this.command('scontrol', 'update', `NodeName=${node}`, 'State=RESUME');
      }
      return states.length === NODES.length && states.every((line) => / (idle|mixed|allocated|completing)$/.test(line));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Ends jobs and daemons. The end of a slurmd does not end its jobs, so those go first. */
  async stop(): Promise<void> {
    if (this.#daemons.has('slurmctld')) {
      await this.command('scancel', '--user', userInfo().username).catch(() => {});
      await until('jobs to end', async () => (await this.command('squeue', '-h', '-o', '%i')) === '', 8_000).catch(
        () => {},
      );
    }
    const nodes = [...this.#daemons.keys()].filter((name) => name.startsWith('slurmd.'));
    await Promise.all(nodes.map((name) => this.#end(name, 'SIGTERM')));
    await this.#end('slurmctld', 'SIGTERM');
    await this.#end('munged', 'SIGTERM');
    await this.#endLeftSteps();
  }

  async #start(): Promise<void> {
    const at = (path: string): string => join(this.folder, path);
    for (const name of ['etc', 'run', 'log', 'state', 'spool', 'munge', 'private', 'shared']) {
      mkdirSync(at(name), {
        recursive: true,
        mode: ['munge', 'state', 'private'].includes(name) ? 0o700 : 0o755,
      });
    }
    // Jobs of other users reach the configuration and their own folders.
    chmodSync(this.folder, 0o711);
    chmodSync(this.sharedFolder, 0o711);
    writeFileSync(at('munge/munge.key'), randomBytes(128), { mode: 0o600 });
    writeFileSync(at('etc/plugstack.conf'), '');
    writeFileSync(at('etc/mail'), `#!/bin/sh\necho "$*" >> '${this.mails}'\n`, { mode: 0o755 });
    writeFileSync(this.env.SLURM_CONF, slurmConf(this.folder, await freePorts(NODES.length + 1), this.#options));
    const socket = at('run/munge.sock');
    this.#launch('munged', '/usr/sbin/munged', [
      '--foreground',
      '--force',
      `--key-file=${at('munge/munge.key')}`,
      `--socket=${socket}`,
      `--pid-file=${at('run/munged.pid')}`,
      `--log-file=${at('log/munged.log')}`,
      `--seed-file=${at('munge/seed')}`,
    ]);
    await until('munged', () => run('munge', ['-n', '-S', socket]).then(() => true));
    this.#launch('slurmctld', '/usr/sbin/slurmctld', ['-D', '-f', this.env.SLURM_CONF]);
    await until('slurmctld', () => this.command('scontrol', 'ping').then((answer) => answer.includes('is UP')));
    for (const { name } of NODES) {
      mkdirSync(at(`spool/${name}`), { recursive: true });
      const command = ['/usr/sbin/slurmd', '-D', '-N', name, '-f', this.env.SLURM_CONF];
      const [program = '', ...args] = apart(this.privateFolder, command);
      this.#launch(`slurmd.${name}`, program, args);
    }
    await this.untilReady();
  }

  #launch(name: string, program: string, args: readonly string[]): void {
    const log = openSync(join(this.folder, 'log', `${name}.out`), 'a');
    const child = spawn(program, args, {
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...process.env, ...this.env },
    });
    closeSync(log);
    child.on('error', () => {}); // reported by the caller that waits for it
    this.#programs.set(name, [program, ...args]);
    this.#daemons.set(name, child);
  }

  async #end(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#daemons.get(name);
    this.#daemons.delete(name);
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  }

  /** What a slurmd that was killed left running: its steps, found by the folder that they were started with. */
  async #endLeftSteps(): Promise<void> {
    const { stdout } = await run('ps', ['-eo', 'pid=,args=']);
    for (const line of stdout.split('\n')) {
      const [, pid, args = ''] = /^\s*(\d+) (.*)$/.exec(line) ?? [];
      if (pid === undefined || !args.startsWith('slurmstepd')) continue;
      const environment = readText(`/proc/${pid}/environ`);
      if (environment.includes(this.folder) || readText(`/proc/${pid}/maps`).includes(this.folder)) {
        killIfThere(Number(pid));
      }
    }
  }
}

// What lets a program mount for itself alone: as root, and as another user in a user namespace.
const NAMESPACE = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-current-user', '--keep-caps', '--mount'];

/** The command, in a mount namespace with an empty file system over `folder`. */
function apart(folder: string, command: readonly string[]): readonly string[] {
  const script = 'mount -t tmpfs -o mode=700 private "$1" && shift && exec "$@"';
  return ['unshare', ...NAMESPACE, '/bin/sh', '-c', script, 'sh', folder, ...command];
}

/** Starts a cluster for a run that makes no sense without one. @throws Error that says why none can be started. */
export async function startCluster(folder: string): Promise<SlurmCluster> {
  const missing = await slurmIsMissing();
  if (missing !== undefined) throw new Error(`NO SLURM: ${missing}`);
  return SlurmCluster.start(folder);
}

/** Why no cluster can be started here; undefined where one can. As root, missing packages are installed. */
export async function slurmIsMissing(): Promise<string | undefined> {
  const programs = ['/usr/sbin/munged', '/usr/sbin/slurmctld', '/usr/sbin/slurmd', 'sbatch'];
  if (process.platform !== 'linux') return 'a Slurm cluster is started on Linux only';
  const [program = '', ...args] = apart('/mnt', ['true']);
  const isApart = await run(program, args).then(
    () => true,
    () => false,
  );
  if (!isApart) return 'nodes need mount namespaces (unshare --mount) for disks of their own';
  const packages = ['munge', 'slurmctld', 'slurmd', 'slurm-client', 'slurm-wlm-basic-plugins'];
  return programsAreMissing('Slurm', { programs, packages });
}

/**
 * Free ports for daemons that start later. They lie below those that the system assigns to callers that ask for any free one, so that no
 * other program takes them meanwhile (ip_local_port_range, from 32768 on Linux).
 */
async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(FIRST_PORT, FIRST_PORT_OF_SYSTEM);
    if (!ports.includes(port) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  return promise;
}

async function until(what: string, isReady: () => Promise<boolean>, timeoutMs = START_TIMEOUT_MS): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isReady().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`Waited in vain for ${what}.`);
    await sleep(POLL_MS);
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // it has ended
  }
}

if (import.meta.main) {
  await using cluster = await startCluster(process.argv[2] ?? '/tmp/farwharf-slurm');
  process.stdout.write(`export SLURM_CONF=${cluster.env.SLURM_CONF}\n`);
  process.stdout.write(`# farwharf serve --data ${join(cluster.privateFolder, 'service')}\n`);
  process.stdout.write(`# [slurm] folder = "${join(cluster.sharedFolder, 'service')}"\n`);
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
}
