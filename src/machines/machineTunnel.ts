import type { Duplex } from 'node:stream';
import { AppError } from '../core/errors.ts';
import { tryParseJson } from '../core/jsonFields.ts';
import { Multiplexer } from '../core/network/multiplexer.ts';
import { printableLine } from '../core/text/printable.ts';
import { type Greeting, greeting } from '../remote/protocol/machineLink.ts';
import { attachScript } from './install/scripts.ts';
import { machineFailure } from './ssh/sshFailure.ts';
import { endSession, newNonce, openSession, type SshCall } from './ssh/sshSession.ts';

/** What a machine's service says about itself. */
export type MachineService = Exclude<Greeting, { error: string }>;

/** One SSH session that carries any number of connections to the service of a machine. */
export interface Tunnel {
  readonly service: MachineService;
  readonly isOpen: boolean;
  /** A connection to the service's socket. */
  open(): Duplex;
  close(): void;
}

/**
 * Opens an SSH session to the machine's service, which is started if it does not run. The session's standard input and output carry
 * all connections, so that nothing has to be forwarded and one session is enough.
 *
 * @param node records this path of Node.js on the machine, and replaces an older service.
 * @throws as `openSession`; AppError `missing` if the build is not installed there, `refused` with the machine's own reason.
 */
export async function openTunnel(call: SshCall, build: string, node?: string): Promise<Tunnel> {
  const nonce = newNonce();
  const { child, line, stderr } = await openSession(call, nonce, attachScript(nonce, build, node));
  const { machine } = call;
  try {
    if (line.trim() === 'missing') {
      throw (
        machineFailure(machine, stderr()) ??
        new AppError(
          'missing',
          `Farwharf is no longer installed on ${machine}, or another version is. Run: farwharf connect ${call.target.destination}`,
        )
      );
    }
    const service = readGreeting(machine, line);
    const channels = new Multiplexer(child.stdout, child.stdin, { onClose: () => endSession(child) });
    child.once('exit', () => channels.close());
    return {
      service,
      get isOpen() {
        return !channels.isClosed;
      },
      open: () => channels.open(),
      close: () => channels.close(),
    };
  } catch (error) {
    endSession(child);
    throw error;
  }
}

function readGreeting(machine: string, line: string): MachineService {
  const { data } = greeting.safeParse(tryParseJson(line));
  if (data === undefined) {
    throw new AppError(
      'corrupt',
      `The service on ${machine} sent an unknown response. Its version may not match: connect it again.`,
    );
  }
  if ('error' in data) throw new AppError('refused', `${machine}: ${printableLine(data.error)}`);
  return data;
}
