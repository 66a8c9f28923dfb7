import type { Duplex } from 'node:stream';
import { assertNever } from '../../../core/errors.ts';
import { Multiplexer } from '../../../core/network/multiplexer.ts';
import {
  type ExecHeader,
  parseHeader,
  readLine,
  TUNNEL_CHANNELS,
  writeLine,
} from '../../../remote/tunnel/tunnelProtocol.ts';
import { attachDebugger, listDebuggable } from './serveDebugger.ts';
import { type CommandPlace, type CommandStreams, runCommand } from './runCommand.ts';
import { serveFiles } from './serveFiles.ts';
import { JobSockets, type ProcessesOfJob } from './listeningPorts.ts';
import { servePorts } from './servePorts.ts';

const BAD_REQUEST = {
  type: 'failed',
  code: 125,
  message: 'The job’s side of the tunnel does not understand this request. Its version may be another one.',
} as const;

/** What a tunnel leads to. */
export interface TunnelPlace extends CommandPlace {
  readonly processes: ProcessesOfJob;
}

/**
 * Serves one client of a job over its connection, until that ends, which ends all that the client has started.
 *
 * @returns resolves once nothing of it is left.
 */
export async function serveTunnel(connection: Duplex, place: TunnelPlace): Promise<void> {
  const closed = Promise.withResolvers<void>();
  const streams = new Map<string, Duplex>();
  const commands = new Set<Promise<void>>();
  const sockets = new JobSockets(place.processes);
  void new Multiplexer(connection, connection, {
    ...TUNNEL_CHANNELS,
    onChannel: (channel) => void admit(channel),
    onClose: () => closed.resolve(),
  });
  await closed.promise;
  connection.destroy();
  await Promise.all(commands);

  async function admit(channel: Duplex): Promise<void> {
    try {
      const header = parseHeader((await readLine(channel)) ?? '');
      if (header?.type === 'stream' && !streams.has(header.id)) {
        streams.set(header.id, channel);
        channel.once('close', () => streams.delete(header.id));
        return;
      }
      switch (header?.type) {
        case 'exec':
          return await run(channel, header);
        case 'list':
        case 'stat':
        case 'read':
        case 'archive':
        case 'write': {
          const stream = 'stream' in header ? takeStream(header.stream) : undefined;
          return await serveFiles(channel, header, { folder: place.folder, stream });
        }
        case 'ports':
        case 'connect':
          return await servePorts(channel, header, sockets);
        case 'debug':
          if (header.process !== undefined) return await attachDebugger(channel, header.process, place);
          listDebuggable(channel, place);
          return;
        case 'stream':
        case undefined:
          channel.end(writeLine(BAD_REQUEST));
          return;
        default:
          assertNever(header);
      }
    } catch {
      channel.destroy(); // the connection was lost, or the line is too long
    }
  }

  async function run(channel: Duplex, header: ExecHeader): Promise<void> {
    const own = takeStreams(header);
    if (own === undefined) {
      channel.end(writeLine(BAD_REQUEST));
      return;
    }
    const command = runCommand(channel, header, own, place).finally(() => commands.delete(command));
    commands.add(command);
    await command;
  }

  function takeStream(id: string): Duplex | undefined {
    const stream = streams.get(id);
    streams.delete(id);
    return stream;
  }

  /** The streams that a command names, which the client has opened before. */
  function takeStreams({ stdin, stdout, stderr }: ExecHeader): CommandStreams | undefined {
    const [input, output] = [takeStream(stdin), takeStream(stdout)];
    const own = { stdin: input, stdout: output, stderr: stderr === undefined ? undefined : takeStream(stderr) };
    if (own.stdin === undefined || own.stdout === undefined) return undefined;
    if (stderr !== undefined && own.stderr === undefined) return undefined;
    return { stdin: own.stdin, stdout: own.stdout, stderr: own.stderr };
  }
}
