import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';
import { joinStreams } from '../../../core/network/joinStreams.ts';
import { Multiplexer } from '../../../core/network/multiplexer.ts';
import { TUNNEL_CHANNELS } from '../../../remote/tunnel/tunnelProtocol.ts';
import type { CommandPlace } from './runCommand.ts';
import { startLine, TUNNEL_FD, type TunnelSetUp } from './sandboxWaiter.ts';
import { serveTunnel } from './serveTunnel.ts';

/** A place for clients, while the job's program runs. */
interface Entrance extends AsyncDisposable {
  enter(connection: Duplex): void;
}

/** Lets the clients of the service into the job while its program runs. */
export class JobTunnel {
  #entrance: Entrance | undefined;
  /** Of the commands that this process itself runs for clients. */
  readonly #commands = new Set<number>();

  /** @param service the connection to the service, which opens a channel on it for each client. */
  constructor(service: Duplex) {
    void new Multiplexer(service, service, {
      windowBytes: TUNNEL_CHANNELS.windowBytes,
      onChannel: (connection) => {
        if (this.#entrance === undefined) connection.destroy();
        else this.#entrance.enter(connection);
      },
    });
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
  openBeside(setUp: TunnelSetUp, spawn: CommandPlace['spawn']): AsyncDisposable {
    const open = new Set<Duplex>();
    const served = new Set<Promise<void>>();
    const place: CommandPlace = {
      ...setUp,
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
    return this.#open({
      enter: (connection) => {
        open.add(connection);
        connection.once('close', () => open.delete(connection));
        const serving = serveTunnel(connection, place).finally(() => served.delete(serving));
        served.add(serving);
      },
      async [Symbol.asyncDispose]() {
        for (const connection of open) connection.destroy();
        await Promise.all(served);
      },
    });
  }

  /** The same for a sandbox, whose end ends all that is in it. @param child its process, with the pipe to the waiter. */
  openInside(setUp: TunnelSetUp, { stdio }: ChildProcess): AsyncDisposable {
    const streams: readonly unknown[] = stdio;
    const waiter = streams[TUNNEL_FD];
    if (!(waiter instanceof Duplex)) throw new TypeError('The sandbox was started without the pipe of its tunnel.');
    let inside: Multiplexer | undefined;
    waiter.on('error', () => {}); // the sandbox has ended
    return this.#open({
      enter: (connection) => {
        if (inside === undefined) {
          waiter.write(startLine(setUp));
          inside = new Multiplexer(waiter, waiter, { windowBytes: TUNNEL_CHANNELS.windowBytes });
        }
        if (inside.isClosed) connection.destroy();
        else joinStreams(connection, inside.open());
      },
      async [Symbol.asyncDispose]() {
        waiter.destroy();
      },
    });
  }

  #open(entrance: Entrance): AsyncDisposable {
    this.#entrance = entrance;
    return {
      [Symbol.asyncDispose]: async () => {
        this.#entrance = undefined;
        await entrance[Symbol.asyncDispose]();
      },
    };
  }
}
