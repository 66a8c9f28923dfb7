import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { joinStreams } from '../../core/network/joinStreams.ts';
import { Multiplexer } from '../../core/network/multiplexer.ts';
import { openSocketAddress } from '../../core/files/socketAddress.ts';
import { requireOwn } from '../../core/files/ownFiles.ts';
import { type Greeting, isNewerVersion } from '../../remote/protocol/machineLink.ts';
import { connectEmbeddedService, stateFileOf } from '../embedded.ts';
import { EXECUTORS } from '../executors.ts';
import { mayLeaveJobsOf } from '../serviceConfig.ts';
import { knowsKey } from '../serviceProof.ts';
import { readStateFile } from '../stateFile.ts';
import { stopService } from './dismantle.ts';
import { homeOf, machineServeOptions, type InstalledProgram, socketOf } from './machineFolder.ts';

// A third of the time after which such a service ends.
const PRESENCE_MS = 3_000;

interface Attachment {
  readonly root: string;
  /** Separates our output from what the login shell has printed. */
  readonly nonce: string;
  /** Whether this version replaces a running older one. Its jobs continue under the new service. */
  readonly isUpgrade: boolean;
}

/**
 * Connects standard input and output, which are an SSH session, to the user's service on this machine: each channel is a connection to the
 * service's socket. Starts the service if none runs. Returns when the session ends.
 */
export async function attach(program: InstalledProgram, { root, nonce, isUpgrade }: Attachment): Promise<void> {
  const greet = (greeting: Greeting): void => void process.stdout.write(`\n${nonce} ${JSON.stringify(greeting)}\n`);
  let needsClients: boolean;
  try {
    const connected = await connectService(program, root, isUpgrade);
    ({ needsClients } = connected);
    greet(connected.greeting);
  } catch (error) {
    greet({ error: startProblem(error, root) });
    return;
  }
  const session = new AbortController();
  if (needsClients) void keepService(root, session.signal);
  await new Promise<void>((resolve) => {
    const onChannel = (channel: Duplex): void => {
      openConnection(program, root).then(
        (connection) => joinStreams(channel, connection),
        () => channel.destroy(),
      );
    };
    void new Multiplexer(process.stdin, process.stdout, { onChannel, onClose: resolve });
  });
  session.abort();
}

/** Why there is no service, for the person at the other end of the session. */
function startProblem(error: unknown, root: string): string {
  const isFull = systemCode(error) === 'ENOSPC' || (error instanceof AppError && error.code === 'no-space');
  if (!isFull) return messageOf(error);
  return `The disk that holds ${homeOf(root)} is full. Free some space there, or set XDG_DATA_HOME there to a folder with space and connect again.`;
}

/** Keeps a service alive that stops without clients, because this client may send no request for minutes. */
async function keepService(root: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(PRESENCE_MS, undefined, { signal }).catch(() => {});
    const running = readStateFile(stateFileOf(homeOf(root)));
    if (running !== undefined && !signal.aborted) await knowsKey(running);
  }
}

/** A connection to the service, which is started again if it has ended because it was idle. */
async function openConnection(program: InstalledProgram, root: string): Promise<Socket> {
  const socket = socketOf(root);
  try {
    return await connectTo(socket);
  } catch {
    await connectService(program, root, false);
    return connectTo(socket);
  }
}

async function connectTo(socket: string): Promise<Socket> {
  using address = openSocketAddress(socket);
  const connection = connect({ path: address.path, allowHalfOpen: true });
  await once(connection, 'connect');
  return connection;
}

/** The service as the client sees it, and whether it ends soon without clients. */
interface ConnectedService {
  readonly greeting: Greeting;
  readonly needsClients: boolean;
}

async function connectService(program: InstalledProgram, root: string, isUpgrade: boolean): Promise<ConnectedService> {
  const home = homeOf(root);
  const stateFile = stateFileOf(home);
  const running = readStateFile(stateFile);
  const isOther = running !== undefined && running.version !== program.version;
  if (isUpgrade && isOther && !isNewerVersion(running.version, program.version)) await stopService(running);
  const { config, socket: expected = '' } = await machineServeOptions(root, program);
  const serveArguments = ['serve', root];
  const { key, socket } = await connectEmbeddedService({
    home,
    node: process.execPath,
    cli: program.entry,
    serveArguments,
  });
  if (socket !== expected) {
    const message = `The service of this home folder runs on another machine (${socket}). Connect to that one instead.`;
    throw new AppError('conflict', message);
  }
  for (const path of [dirname(expected), expected]) requireOwn(path);
  const version = readStateFile(stateFile)?.version ?? program.version;
  const needsClients = await mayLeaveJobsOf(config, EXECUTORS);
  return { greeting: { key, version, executor: config.executor }, needsClients };
}
