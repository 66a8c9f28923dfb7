import { readFileSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../../src/core/errors.ts';
import { processIdentity } from '../../../src/core/processes/processTree.ts';
import { openMachine } from '../../../src/machines/openMachine.ts';
import { serviceFolder, stateFileOf } from '../../../src/service/embedded.ts';
import { readStateFile } from '../../../src/service/stateFile.ts';
import type { Scratch } from '../../../test/service/commandLine.ts';
import type { SshServer } from '../../../test/service/support/sshServer.ts';
import { LoadClient } from '../client.ts';
import type { LoadedSite } from '../site.ts';
import type { LineCutter } from './lineCutter.ts';

const POLL_MS = 20;
const MAX_JOBS = 6;
const TUNNELS = 2;

/** A machine that was connected over SSH, through a line that is cut, and the clients that reach its service through tunnels. */
export class MachineSite implements LoadedSite {
  readonly name = 'testbox';
  readonly root: string;
  readonly data: string;
  readonly files: string;
  readonly #home: string;
  readonly #scratch: Scratch;
  readonly #clients: LoadClient[] = [];
  readonly #tunnels: Disposable[] = [];
  #turn = 0;

  private constructor(scratch: Scratch, server: SshServer) {
    this.#scratch = scratch;
    this.root = join(server.home, '.local/share/farwharf-service');
    this.#home = join(this.root, 'home');
    this.data = serviceFolder(this.#home);
    this.files = this.data;
  }

  /** Connects the machine as a user does, and lets its service run several jobs at once. */
  static async connect(scratch: Scratch, server: SshServer, line: LineCutter): Promise<MachineSite> {
    const site = new MachineSite(scratch, server);
    const config = join(scratch.root, 'ssh.config');
    const direct = readFileSync(server.config, 'utf8');
    writeFileSync(config, direct.replace(`Port ${server.port}`, `Port ${line.port}`));
    const connected = await scratch.run(['connect', site.name, '--ssh-config', config, '--node', process.execPath]);
    if (connected.exit !== 0) throw new Error(connected.stderr);
    writeFileSync(join(site.root, 'service.toml'), `[process]\nmax_jobs = ${MAX_JOBS}\n`, { mode: 0o600 });
    await site.end('SIGTERM'); // the next one reads the file
    for (let tunnel = 0; tunnel < TUNNELS; tunnel += 1) {
      const home = await site.addHome(`tunnel-${tunnel}`);
      const { url, key, agent } = await openMachine(site.name, { home, env: process.env });
      site.#clients.push(new LoadClient(url, key, agent));
      site.#tunnels.push({ [Symbol.dispose]: () => agent.destroy() });
    }
    return site;
  }

  /** A new FARWHARF_HOME in which the machine is connected, with an SSH connection of its own. */
  async addHome(name: string): Promise<string> {
    const home = join(this.#scratch.root, name);
    await mkdir(home, { mode: 0o700 });
    await copyFile(join(this.#scratch.home, 'machines.json'), join(home, 'machines.json'));
    return home;
  }

  /** The service on the machine, if one has started. */
  get pid(): number | undefined {
    return readStateFile(stateFileOf(this.#home))?.pid;
  }

  /** The clients in turn. Each opens its tunnel, and the machine's service, again if that is needed. */
  async client(signal: AbortSignal): Promise<LoadClient> {
    signal.throwIfAborted();
    const client = this.#clients[(this.#turn += 1) % this.#clients.length];
    if (client === undefined) throw new Error('No tunnel is open.');
    return client;
  }

  /** Returns once each client reaches the service again. */
  async untilReachable(signal: AbortSignal): Promise<void> {
    for (const client of this.#clients) {
      const isReached = (): Promise<boolean> =>
        client.jobs(signal).then(
          () => true,
          () => false,
        );
      while (!(await isReached())) await sleep(POLL_MS, undefined, { signal });
    }
  }

  /** Ends the service, and waits for that. The next request starts it again. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const { pid } = this;
    if (pid === undefined) return;
    const identity = processIdentity(pid);
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error;
    }
    const isThere = (): boolean => identity !== undefined && processIdentity(pid) === identity;
    while (isThere()) await sleep(POLL_MS);
  }

  /** Ends the tunnels. */
  [Symbol.dispose](): void {
    for (const tunnel of this.#tunnels.splice(0)) tunnel[Symbol.dispose]();
  }

  /** Stops the service and deletes everything on the machine. @returns what the command said if it failed. */
  async remove(): Promise<string | undefined> {
    const { exit, stderr } = await this.#scratch.run(['connect', this.name, '--remove', '--yes']);
    return exit === 0 ? undefined : stderr;
  }
}
