import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import { Multiplexer } from '../../core/network/multiplexer.ts';
import { openSocketAddress } from '../../core/files/socketAddress.ts';
import { requireOwn } from '../../core/files/ownFiles.ts';
import { type Greeting, isNewerVersion } from '../../remote/protocol/machineLink.ts';
import { connectEmbeddedService, stateFileOf } from '../embedded.ts';
import { readStateFile } from '../stateFile.ts';
import { stopService } from './stopService.ts';
import { homeOf, machineServeOptions, type Program, socketOf } from './machineFolder.ts';

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
export async function attach(program: Program, { root, nonce, isUpgrade }: Attachment): Promise<void> {
  const greet = (greeting: Greeting): void => void process.stdout.write(`\n${nonce} ${JSON.stringify(greeting)}\n`);
  try {
    greet(await connectService(program, root, isUpgrade));
  } catch (error) {
    greet({ error: messageOf(error) });
    return;
  }
  await new Promise<void>((resolve) => {
    const onChannel = (channel: Duplex): void => {
      openConnection(program, root).then(
        (connection) => join(channel, connection),
        () => channel.destroy(),
      );
    };
    void new Multiplexer(process.stdin, process.stdout, { onChannel, onClose: resolve });
  });
}

function join(stream: Duplex, connection: Duplex): void {
  for (const [from, to] of [
    [stream, connection],
    [connection, stream],
  ] as const)
    pipeline(from, to).catch(() => {});
}

/** A connection to the service, which is started again if it has ended because it was idle. */
async function openConnection(program: Program, root: string): Promise<Socket> {
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

async function connectService(program: Program, root: string, isUpgrade: boolean): Promise<Greeting> {
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
  return { key, version, executor: config.executor };
}
