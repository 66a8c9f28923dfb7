import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { SlurmCluster } from '../../../scripts/slurm/cluster.ts';
import { endProcessesOf } from '../../../scripts/vscode/processes.ts';
import { AsyncDisposableStore } from '../../../src/core/processes/lifetime.ts';
import { SshServer } from '../../service/support/sshServer.ts';

/** Where the jobs of a window run. */
export interface JobHost extends AsyncDisposable {
  /** What the window calls it. */
  readonly label: string;
  /** Variables of the window's processes. */
  readonly env: NodeJS.ProcessEnv;
  /** The SSH server of a machine, which the window has to connect. */
  readonly server?: SshServer;
  /** Whether connecting it offers its cluster. */
  readonly hasCluster?: boolean;
}

export async function openThisMachine(): Promise<JobHost> {
  return { label: 'this machine', env: {}, [Symbol.asyncDispose]: async () => {} };
}

/** A machine over SSH that runs jobs as processes. */
export async function openSshMachine(): Promise<JobHost> {
  return startMachine({});
}

/** The login node of a Slurm cluster of its own. */
export async function openLoginNode(): Promise<JobHost> {
  await using opened = new AsyncDisposableStore();
  const folder = await mkdtemp(join(tmpdir(), 'fwslurm-'));
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const cluster = await SlurmCluster.start(folder);
  opened.defer(() => cluster.stop());
  const machine = opened.use(await startMachine(cluster.env));
  const resources = opened.move();
  return { ...machine, hasCluster: true, [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose]() };
}

async function startMachine(env: Readonly<Record<string, string>>): Promise<JobHost> {
  await using opened = new AsyncDisposableStore();
  // Node.js is installed there, so that nothing large is copied.
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const server = opened.use(await SshServer.create({ PATH: path, ...env }));
  opened.defer(() => endProcessesOf(server.home));
  await server.start();
  const home = join(server.root, 'here');
  await mkdir(join(home, '.ssh'), { recursive: true });
  await copyFile(server.config, join(home, '.ssh/config'));
  const ssh = join(home, 'ssh'); // which reads the configuration of the account, whatever HOME is
  await writeFile(ssh, `#!/bin/sh\nexec ssh -F ${join(home, '.ssh/config')} "$@"\n`);
  await chmod(ssh, 0o755);
  const resources = opened.move();
  return {
    label: 'testbox',
    env: { HOME: home, FARWHARF_SSH: ssh },
    server,
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  };
}
