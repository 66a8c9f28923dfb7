import { AppError } from '../core/errors.ts';
import { formatDuration } from '../core/text/format.ts';
import { printableLine } from '../core/text/printable.ts';
import type { OfferedClass } from '../remote/protocol/machineLink.ts';
import { configureCluster } from './install/configureCluster.ts';
import { type Inspection, inspectMachine, isPlainPath } from './install/inspection.ts';
import { fetchNode, NODE_VERSION, nodePackageFor } from './install/nodePackage.ts';
import { PLACE_NODE } from './install/scripts.ts';
import { packService } from './install/serviceBundle.ts';
import { uploadToMachine } from './install/uploadToMachine.ts';
import { isMachineName, type Machine, saveMachine } from './machineRecords.ts';
import type { SshClient, SshTarget } from './ssh/sshCommand.ts';
import type { SshCall } from './ssh/sshSession.ts';
import { openTunnel } from './machineTunnel.ts';

// The unpacked Node.js, and the archive beside it.
const NODE_BYTES = 250_000_000;
const SERVICE_BYTES = 5_000_000;

export type ConnectPhase =
  | { readonly type: 'inspect' | 'start' }
  | { readonly type: 'download' }
  | { readonly type: 'copy'; readonly what: string; readonly doneBytes: number; readonly totalBytes: number };

export interface ConnectOptions {
  readonly client: SshClient;
  readonly target: SshTarget;
  /** Default: the destination without its user. */
  readonly name?: string | undefined;
  /** Path of Node.js on the machine; found or copied if absent. */
  readonly node?: string | undefined;
  /** The folder with the built program. */
  readonly dist: string;
  readonly signal?: AbortSignal;
  /** Asks the user to agree; `question` says what happens. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Whether jobs should run on the cluster that was found there, with these machine classes, or on the machine itself. */
  readonly chooseCluster: (classes: readonly OfferedClass[]) => Promise<boolean>;
  readonly onPhase?: (phase: ConnectPhase) => void;
  /** Something that the user should know, as a sentence. */
  readonly onNote?: (note: string) => void;
}

/**
 * Sets up a machine that `ssh` reaches: copies what is missing, starts the service, and records the machine.
 *
 * @throws AppError or `MachineUnreachable` that says what to do; then nothing half-installed is left there.
 */
export async function connectMachine(options: ConnectOptions): Promise<Machine> {
  const { client, target, signal, dist, onPhase, onNote } = options;
  const name = machineNameOf(target.destination, options.name);
  const call: SshCall = { client, target, machine: name, signal };
  const nodePath = options.node === undefined ? undefined : plainPath(options.node);
  const bundle = await packService(dist);
  onPhase?.({ type: 'inspect' });
  const inspection = await inspectMachine(call, nodePath);
  requireSupported(name, inspection);
  if (inspection.clockAheadMs !== 0) {
    const side = inspection.clockAheadMs > 0 ? 'ahead of' : 'behind';
    const difference = formatDuration(Math.abs(inspection.clockAheadMs) / 1000);
    onNote?.(`The clock of ${name} is ${difference} ${side} this machine's. Times of its jobs are shown by its clock.`);
  }
  const node =
    nodePath === undefined ? await provideNode(options, call, inspection) : checkedNode(name, nodePath, inspection);
  if (!inspection.builds.includes(bundle.build)) {
    requireSpace(name, inspection, SERVICE_BYTES);
    await uploadToMachine(call, bundle.archive, {
      destination: `versions/${bundle.build}`,
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'copy', what: 'Farwharf', doneBytes, totalBytes }),
    });
  }
  if (inspection.hasSlurm && !inspection.hasConfig) {
    await configureCluster(call, { build: bundle.build, node, choose: options.chooseCluster, onNote });
  }
  onPhase?.({ type: 'start' });
  const tunnel = await openTunnel(call, bundle.build, node);
  tunnel.close();
  const { version, executor } = tunnel.service;
  const { destination, configFile } = target;
  const machine: Machine = {
    name,
    destination,
    ...(configFile !== undefined && { configFile }),
    build: bundle.build,
    version,
    executor,
    connectedAt: new Date().toISOString(),
  };
  saveMachine(client.home, machine);
  return machine;
}

/**
 * The name under which a machine is used: `name`, else the destination without its user and port.
 *
 * @throws AppError `bad-input` for a destination that `ssh` would read as an option, and for a name that cannot be used.
 */
export function machineNameOf(destination: string, name?: string): string {
  if (!/^[^\s\-\p{Cc}][^\s\p{Cc}]*$/u.test(destination)) {
    throw new AppError(
      'bad-input',
      'The destination is not valid. Enter it as for ssh, like user@gpu-box or a name of ~/.ssh/config.',
    );
  }
  const url = destination.startsWith('ssh://') ? URL.parse(destination) : null;
  const found = name ?? (url === null ? destination.replace(/^.*@/, '') : url.hostname);
  if (isMachineName(found)) return found;
  throw new AppError(
    'bad-input',
    `"${found}" cannot be the name of a machine. Choose one of letters, digits, "." "_" and "-" with --name; "local" is this machine.`,
  );
}

function requireSupported(name: string, { system, architecture, isWritable }: Inspection): void {
  if (system !== 'Linux' && system !== 'Darwin') {
    const what = system === '' ? 'an unknown system' : `${system} on ${architecture}`;
    throw new AppError('refused', `${name} runs ${what}. Farwharf runs jobs on Linux and macOS.`);
  }
  if (!isWritable) {
    throw new AppError(
      'permission',
      `You cannot write to your home folder on ${name}. Set XDG_DATA_HOME there to a folder that you can write.`,
    );
  }
}

function requireSpace(name: string, { freeBytes }: Inspection, neededBytes: number): void {
  if (freeBytes === undefined || freeBytes >= neededBytes) return;
  const megabytes = Math.ceil(neededBytes / 1e6);
  throw new AppError(
    'no-space',
    `The disk of ${name} is full: ${megabytes} MB are needed in your home folder there. Free some space and connect again. Nothing was changed there.`,
  );
}

/** The path of a Node.js that the user has named. @throws AppError `bad-input` if it cannot be used there, with the reason. */
function checkedNode(machine: string, path: string, { nodes, namedNode }: Inspection): string {
  if (nodes.includes(path)) return path;
  const problem =
    namedNode === ''
      ? `${path} is not a program on ${machine} that you may run`
      : namedNode === 'unknown'
        ? `${path} on ${machine} does not start as Node.js`
        : `${path} on ${machine} is version ${printableLine(namedNode)}`;
  throw new AppError(
    'bad-input',
    `${problem}. Name a Node.js 22.18 or later there with --node, or leave it out: then one is found or copied.`,
  );
}

function plainPath(path: string): string {
  if (isPlainPath(path)) return path;
  throw new AppError(
    'bad-input',
    '--node must be the absolute path of Node.js on that machine, like /opt/node/bin/node.',
  );
}

/** The path of a Node.js there, which is copied if the user agrees. */
async function provideNode(options: ConnectOptions, call: SshCall, inspection: Inspection): Promise<string> {
  const [found] = inspection.nodes;
  if (found !== undefined) return found;
  const { client, confirm, onPhase, signal } = options;
  const { machine } = call;
  const needed = nodePackageFor(machine, inspection);
  requireSpace(machine, inspection, NODE_BYTES);
  const question = `${machine} has no Node.js 22.18 or later. Copy Node.js ${NODE_VERSION} there (about 55 MB, into your home folder, removed by --remove)?`;
  if (!(await confirm(question))) {
    throw new AppError(
      'refused',
      `${machine} has no Node.js 22.18 or later, and nothing was copied. Allow the copy with --yes, or name an installed one with --node PATH.`,
    );
  }
  onPhase?.({ type: 'download' });
  const archive = await fetchNode(needed, { home: client.home, env: client.env, signal });
  const destination = `node-${NODE_VERSION}`;
  await uploadToMachine(call, archive, {
    destination,
    check: PLACE_NODE,
    onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'copy', what: 'Node.js', doneBytes, totalBytes }),
  });
  const [copied] = (await inspectMachine(call)).nodes;
  if (copied !== undefined) return copied;
  throw new AppError(
    'refused',
    `The Node.js that was copied to ${machine} does not run there. Name an installed one with --node PATH.`,
  );
}
