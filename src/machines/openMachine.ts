import type { Agent } from 'node:http';
import { AppError } from '../core/errors.ts';
import { findMachine } from './machineRecords.ts';
import type { SshClient } from './ssh/sshCommand.ts';
import { MachineAgent } from './machineAgent.ts';

/** What the requests to a machine's service are sent with. */
export interface MachineAddress {
  readonly url: string;
  readonly key: string;
  readonly agent: Agent;
}

/**
 * Connects to the service of a machine, which is started if it does not run.
 *
 * @param signal ends attempts to connect, also later ones of the agent.
 * @throws AppError `missing` if the machine is not connected; as `openTunnel`.
 */
export async function openMachine(name: string, client: SshClient, signal?: AbortSignal): Promise<MachineAddress> {
  const machine = findMachine(client.home, name);
  if (machine === undefined) {
    throw new AppError('missing', `No machine named ${name} is connected. Connect it with  farwharf connect ${name}`);
  }
  const agent = new MachineAgent({ client, target: machine, machine: name, signal }, machine.build);
  try {
    const { key } = await agent.service();
    return { url: 'http://localhost', key, agent };
  } catch (error) {
    agent.destroy();
    throw error;
  }
}
