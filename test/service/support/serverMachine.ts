import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programsAreMissing } from '../../../scripts/programs.ts';

const SCRIPT = join(import.meta.dirname, 'serverMachine.sh');
const CGROUPS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'];
const START_MS = 60_000;

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A machine with systemd in namespaces of this one: it has this machine's programs, and whatever is changed in it disappears when it is
 * disposed.
 */
export class ServerMachine implements Disposable {
  /** A folder of this machine, which is `/shared` in the other one. */
  readonly shared: string;
  readonly #folder: string;
  readonly #cgroup: string;
  readonly #pid: number;

  private constructor(folder: string, cgroup: string, pid: number) {
    this.#folder = folder;
    this.shared = join(folder, 'shared');
    this.#cgroup = cgroup;
    this.#pid = pid;
  }

  /** @returns the machine, or why there can be none. */
  static async start(): Promise<ServerMachine | string> {
    if (process.platform !== 'linux' || process.getuid?.() !== 0)
      return 'only root on Linux can start a second systemd';
    const missing = await programsAreMissing('systemd and bubblewrap', {
      programs: ['/lib/systemd/systemd', 'bwrap', 'unshare', 'nsenter'],
      packages: ['systemd', 'bubblewrap', 'util-linux'],
    });
    if (missing !== undefined) return missing;
    const parent = CGROUPS.find((path) => spawnSync('stat', ['-fc', '%T', path]).stdout.toString() === 'cgroup2fs\n');
    if (parent === undefined) return 'the machine has no cgroups of version 2';
    const folder = mkdtempSync(join(tmpdir(), 'farwharf-server-'));
    for (const name of ['disk', 'shared']) mkdirSync(join(folder, name));
    const cgroup = join(parent, folder.slice(folder.lastIndexOf('/') + 1));
    // The namespace of cgroups begins where the process is, so it is moved first.
    const enter = 'mkdir "$1" && echo $$ > "$1/cgroup.procs" && shift && exec "$@"';
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--ipc', '--uts', '--net', '--cgroup'];
    // It ends with the process of the tests, however that ends.
    const unshare = [
      'setpriv',
      '--pdeathsig',
      'KILL',
      'unshare',
      ...namespaces,
      '--propagation',
      'private',
      'bash',
      SCRIPT,
      folder,
    ];
    const child = spawn('bash', ['-c', enter, 'bash', cgroup, ...unshare], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
    const deadline = performance.now() + START_MS;
    while (performance.now() < deadline && child.exitCode === null) {
      const pid = childOf(child.pid ?? 0);
      const machine = new ServerMachine(folder, cgroup, pid);
      if (pid !== 0 && /^(running|degraded)$/m.test(machine.run('systemctl', ['is-system-running']).stdout)) {
        machine.#prepare();
        return machine;
      }
      await sleep(200);
    }
    child.kill('SIGKILL');
    remove(folder, cgroup);
    return `systemd did not start in namespaces of this machine: ${errors.trim()}`;
  }

  /** Runs a program in the machine, as root. */
  run(
    program: string,
    args: readonly string[],
    { env = {}, input = '' }: { env?: Readonly<Record<string, string>>; input?: string } = {},
  ): Ran {
    const enter = ['--target', String(this.#pid), '--all', '--wdns=/', 'env', '-i'];
    // bash reads root's .bashrc if its input is a socket, as that of `spawnSync` is, and it is the outermost shell. The file is this machine's own, and
    // what it starts may wait for locks that a killed shell has left.
    const outside = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', SHLVL: '1' };
    const variables = { ...outside, ...env };
    const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    return spawnSync('nsenter', [...enter, ...assignments, program, ...args], { encoding: 'utf8', input });
  }

  /** Runs a command line in the machine. */
  shell(command: string): Ran {
    return this.run('bash', ['-c', command]);
  }

  [Symbol.dispose](): void {
    process.kill(this.#pid, 'SIGKILL');
    remove(this.#folder, this.#cgroup);
  }

  /** What the documentation requires of a machine: Node.js for all users, and bubblewrap. */
  #prepare(): void {
    copyFileSync(process.execPath, join(this.shared, 'node'));
    this.shell('install -m 0755 /shared/node /usr/local/bin/node');
  }
}

function childOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  } catch {
    return 0;
  }
}

function remove(folder: string, cgroup: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  // Nested ones first; the kernel removes no group that has others, or processes that have not quite ended.
  const removal = `for try in 1 2 3 4 5 6 7 8 9; do find "$1" -depth -type d -exec rmdir {} + && break; sleep 0.2; done`;
  spawnSync('sh', ['-c', removal, 'sh', cgroup]);
}
