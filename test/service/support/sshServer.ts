import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemCode } from '../../../src/core/errors.ts';
import { programsAreMissing } from '../../../scripts/programs.ts';
import { findProgram } from '../../../src/core/processes/findProgram.ts';
import { until } from '../commandLine.ts';
import { freePort } from './freePort.ts';

const run = promisify(execFile);
// Which is rarely on the PATH of users.
const SSHD = '/usr/sbin/sshd';

/** Why tests that need OpenSSH's server are skipped; undefined if it is there. Root on Debian gets it for them. */
export async function sshIsMissing(): Promise<string | undefined> {
  if (process.platform === 'win32') return 'sshd is tested on Unix';
  return programsAreMissing("OpenSSH's server", {
    programs: ['ssh', 'ssh-keygen', findSshd() ?? SSHD],
    packages: ['openssh-client', 'openssh-server'],
  });
}

function findSshd(): string | undefined {
  return findProgram('sshd', `${process.env['PATH'] ?? ''}:${dirname(SSHD)}`);
}

/** OpenSSH's server on loopback, with a home folder of its own: a machine to connect. */
export class SshServer implements AsyncDisposable {
  readonly root: string;
  /** The home folder of the user there. */
  readonly home: string;
  /** The configuration for `ssh -F`, in which the machine is named `testbox`. */
  readonly config: string;
  readonly port: number;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  private constructor(root: string, port: number, env: Readonly<Record<string, string>>) {
    this.root = root;
    this.home = join(root, 'there');
    this.config = join(root, 'config');
    this.port = port;
    this.#env = { HOME: this.home, ...env };
  }

  /** @param env variables of its sessions. */
  static async create(env: Readonly<Record<string, string>> = {}): Promise<SshServer> {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-ssh-')));
    await chmod(root, 0o755);
    const server = new SshServer(root, await freePort(), env);
    await mkdir(server.home);
    for (const name of ['id', 'host', 'other']) {
      await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(root, name)]);
    }
    await copyFile(join(root, 'id.pub'), join(root, 'authorized_keys'));
    await server.know('host');
    await writeFile(
      server.config,
      `Host testbox\n HostName 127.0.0.1\n Port ${server.port}\n User ${userInfo().username}\n IdentityFile ${join(root, 'id')}\n` +
        ` IdentitiesOnly yes\n UserKnownHostsFile ${join(root, 'known_hosts')}\n HostKeyAlias testbox\n BatchMode yes\n`,
    );
    return server;
  }

  /** Makes `ssh` expect this host key. */
  async know(key: 'host' | 'other'): Promise<void> {
    const [type = '', data = ''] = (await readFile(join(this.root, `${key}.pub`), 'utf8')).split(' ');
    await writeFile(join(this.root, 'known_hosts'), `testbox ${type} ${data}\n`);
  }

  /** Starts, or starts again with other options. @param options lines of sshd_config(5). */
  async start(options: readonly string[] = []): Promise<void> {
    await this.stop();
    const path = join(this.root, 'sshd_config');
    await writeFile(
      path,
      [
        'ListenAddress 127.0.0.1',
        `Port ${this.port}`,
        `HostKey ${join(this.root, 'host')}`,
        `AuthorizedKeysFile ${join(this.root, 'authorized_keys')}`,
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        'UsePAM no',
        'StrictModes no',
        'PidFile none',
        `SetEnv ${Object.entries(this.#env)
          .map(([name, value]) => `"${name}=${value}"`)
          .join(' ')}`,
        // Connections that are cut on purpose would lock this address out.
        ...((await hasPenalties()) ? ['PerSourcePenalties no'] : []),
        ...options,
        '',
      ].join('\n'),
    );
    if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true });
    this.#child = spawn(findSshd() ?? SSHD, ['-D', '-e', '-f', path], { stdio: 'ignore', detached: true });
    await until(() => canConnect(this.port));
  }

  /** Stops the server and breaks all of its connections. */
  async stop(): Promise<void> {
    const { pid } = this.#child ?? {};
    if (this.#child === undefined || pid === undefined) return;
    const ended = once(this.#child, 'exit');
    for (const child of await sessionsOf(pid)) killIfThere(child);
    this.#child.kill('SIGKILL');
    this.#child = undefined;
    await ended;
  }

  /** The processes of its connections. */
  async sessions(): Promise<readonly { readonly pid: number }[]> {
    return (await sessionsOf(this.#child?.pid ?? 0)).map((pid) => ({ pid }));
  }

  /** Ends every connection, without a word, as a network does. */
  async cut(): Promise<void> {
    for (const child of await sessionsOf(this.#child?.pid ?? 0)) killIfThere(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Whether sshd refuses addresses whose connections failed: OpenSSH 9.8 and later. */
async function hasPenalties(): Promise<boolean> {
  const { stderr } = await run(findSshd() ?? SSHD, ['-V']);
  const [, major = '0', minor = '0'] = /OpenSSH_(\d+)\.(\d+)/.exec(stderr) ?? [];
  return Number(major) > 9 || (Number(major) === 9 && Number(minor) >= 8);
}

/** Connections can end by themselves meanwhile. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}

/** The processes of connections: the children of the server, and theirs. */
async function sessionsOf(pid: number): Promise<readonly number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,comm=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const below = (parent: string): string[] =>
    rows.flatMap(([child = '', of, name = '']) =>
      of === parent && name.startsWith('sshd') ? [child, ...below(child)] : [],
    );
  return below(String(pid)).map(Number);
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
