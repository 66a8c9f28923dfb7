import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';
import { joinStreams } from '../../../core/network/joinStreams.ts';
import { Multiplexer } from '../../../core/network/multiplexer.ts';
import { TUNNEL_CHANNELS } from '../../../remote/tunnel/tunnelProtocol.ts';
import { openEntrance } from '../../jobFiles/jobEntrance.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import { startLine, TUNNEL_FD, type TunnelSetUp } from './sandboxWaiter.ts';
import type { TunnelPlace } from './serveTunnel.ts';
import { TunnelSessions } from './tunnelSessions.ts';

/** Lets the clients of the service into the job while its program runs. */
export class JobTunnel {
  readonly #folder: JobFolder;
  /** Of the commands that this process itself runs for clients. */
  readonly #commands = new Set<number>();

  constructor(folder: JobFolder) {
    this.#folder = folder;
  }

  /** IDs of the processes that clients have started beside the job's first one, and that count as the job's. */
  get processes(): readonly number[] {
    return [...this.#commands];
  }

  /**
   * Lets clients in beside a program, whose limits `spawn` sets.
   *
   * @returns what shuts them out, and ends what they have started.
   */
  openBeside(setUp: TunnelSetUp, { spawn, processes }: Pick<TunnelPlace, 'spawn' | 'processes'>): AsyncDisposable {
    const place: TunnelPlace = {
      ...setUp,
      processes,
      spawn: (...call) => {
        const child = spawn(...call);
        const { pid } = child;
        if (pid !== undefined) {
          this.#commands.add(pid);
          child.once('exit', () => this.#commands.delete(pid));
        }
        return child;
      },
    };
    const sessions = new TunnelSessions(place);
    const entrance = this.#open((connection) => void sessions.admit(connection));
    return {
      async [Symbol.asyncDispose]() {
        const ended = sessions[Symbol.asyncDispose]();
        entrance[Symbol.dispose]();
        await ended;
      },
    };
  }

  /** The same for a sandbox, whose end ends all that is in it. @param child its process, with the pipe to the waiter. */
  openInside(setUp: TunnelSetUp, { stdio }: ChildProcess): AsyncDisposable {
    const streams: readonly unknown[] = stdio;
    const waiter = streams[TUNNEL_FD];
    if (!(waiter instanceof Duplex)) throw new TypeError('The sandbox was started without the pipe of its tunnel.');
    let inside: Multiplexer | undefined;
    waiter.on('error', () => {}); // the sandbox has ended
    const entrance = this.#open((connection) => {
      if (inside === undefined) {
        waiter.write(startLine(setUp));
        inside = new Multiplexer(waiter, waiter, { windowBytes: TUNNEL_CHANNELS.windowBytes });
      }
      if (inside.isClosed) connection.destroy();
      else joinStreams(connection, inside.open());
    });
    return {
      async [Symbol.asyncDispose]() {
        entrance[Symbol.dispose]();
        waiter.destroy();
      },
    };
  }

  /** Lets clients in until disposed, which ends their connections. */
  #open(enter: (connection: Duplex) => void): Disposable {
    const open = new Set<Duplex>();
    const entrance = openEntrance(this.#folder, (connection) => {
      connection.on('error', () => {}); // its close follows
      connection.unref();
      open.add(connection);
      connection.once('close', () => open.delete(connection));
      enter(connection);
    });
    return {
      [Symbol.dispose]: () => {
        entrance[Symbol.dispose]();
        for (const connection of open) connection.destroy();
      },
    };
  }
}
