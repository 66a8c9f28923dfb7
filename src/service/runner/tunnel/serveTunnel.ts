import type { Duplex } from 'node:stream';
import { Multiplexer } from '../../../core/network/multiplexer.ts';
import {
  type ExecHeader,
  parseHeader,
  readLine,
  TUNNEL_CHANNELS,
  writeLine,
} from '../../../remote/tunnel/tunnelProtocol.ts';
import { type CommandPlace, type CommandStreams, runCommand } from './runCommand.ts';

const BAD_REQUEST = {
  type: 'failed',
  code: 125,
  message: 'The job’s side of the tunnel does not understand this request. Its version may be another one.',
} as const;

/**
 * Serves one client of a job over its connection, until that ends, which ends all that the client has started.
 *
 * @returns resolves once nothing of it is left.
 */
export async function serveTunnel(connection: Duplex, place: CommandPlace): Promise<void> {
  const closed = Promise.withResolvers<void>();
  const streams = new Map<string, Duplex>();
  const commands = new Set<Promise<void>>();
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
      const own = header?.type === 'exec' ? takeStreams(header) : undefined;
      if (header?.type !== 'exec' || own === undefined) {
        channel.end(writeLine(BAD_REQUEST));
        return;
      }
      const command = runCommand(channel, header, own, place).finally(() => commands.delete(command));
      commands.add(command);
      await command;
    } catch {
      channel.destroy(); // the connection was lost, or the line is too long
    }
  }

  /** The streams that a command names, which the client has opened before. */
  function takeStreams({ stdin, stdout, stderr }: ExecHeader): CommandStreams | undefined {
    const take = (id: string): Duplex | undefined => {
      const stream = streams.get(id);
      streams.delete(id);
      return stream;
    };
    const own = { stdin: take(stdin), stdout: take(stdout), stderr: stderr === undefined ? undefined : take(stderr) };
    if (own.stdin === undefined || own.stdout === undefined) return undefined;
    if (stderr !== undefined && own.stderr === undefined) return undefined;
    return { stdin: own.stdin, stdout: own.stdout, stderr: own.stderr };
  }
}
