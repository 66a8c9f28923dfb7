import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { callbackify } from 'node:util';
import type { SshCall } from './ssh/sshSession.ts';
import { type MachineService, openTunnel, type Tunnel } from './machineTunnel.ts';

type Callback = (error: Error | null, socket: Duplex) => void;

/**
 * Connects HTTP requests to the service of a machine, over one SSH session that is opened again after it was lost. Each request has a
 * connection of its own, which costs nothing here.
 */
export class MachineAgent extends Agent {
  readonly #open: () => Promise<Tunnel>;
  #tunnel: Promise<Tunnel> | undefined;
  #isClosed = false;

  /** @param build the build of the service on the machine. */
  constructor(call: SshCall, build: string) {
    super({ keepAlive: false });
    this.#open = () => openTunnel(call, build);
  }

  /** Connects, and returns what the service says about itself. @throws as `openTunnel`. */
  async service(): Promise<MachineService> {
    return (await this.#connected()).service;
  }

  override createConnection(_options: unknown, callback: Callback = () => {}): undefined {
    callbackify(async () => (await this.#connected()).open())(callback);
  }

  override destroy(): void {
    this.#isClosed = true;
    void this.#tunnel?.then((tunnel) => tunnel.close()).catch(() => {});
    super.destroy();
  }

  async #connected(): Promise<Tunnel> {
    const current = this.#tunnel;
    if (current !== undefined) {
      const tunnel = await current;
      if (tunnel.isOpen) return tunnel;
      if (this.#tunnel !== current) return this.#connected(); // another request has opened it again
    }
    const opening = this.#open();
    this.#tunnel = opening;
    try {
      const tunnel = await opening;
      if (this.#isClosed) tunnel.close();
      return tunnel;
    } catch (error) {
      if (this.#tunnel === opening) this.#tunnel = undefined;
      throw error;
    }
  }
}
