import { AppError } from '../core/errors.ts';
import { tryParseJson } from '../core/jsonFields.ts';
import { printableLine } from '../core/text/printable.ts';
import { dismantled } from '../remote/protocol/machineLink.ts';
import { deleteScript, dismantleScript } from './install/scripts.ts';
import { forgetMachine, type Machine } from './machineRecords.ts';
import { closeSharedConnection, type SshClient } from './ssh/sshCommand.ts';
import { runToEnd, type SshCall } from './ssh/sshSession.ts';

export interface RemoveOptions {
  readonly client: SshClient;
  readonly signal?: AbortSignal;
  readonly confirm: (question: string) => Promise<boolean>;
}

/**
 * Stops the service of a machine, deletes everything that was installed there, and forgets the machine.
 *
 * @throws AppError `conflict` if jobs have not ended and the user does not agree to cancel them; as `openSession`. The machine is then
 *   still connected.
 */
export async function removeMachine(machine: Machine, { client, signal, confirm }: RemoveOptions): Promise<void> {
  const { name, build } = machine;
  const call: SshCall = { client, target: machine, machine: name, signal };
  const unfinished = await dismantle(call, build, false, confirm);
  if (unfinished > 0) {
    const jobs = unfinished === 1 ? '1 job has' : `${unfinished} jobs have`;
    if (!(await confirm(`${jobs} not ended on ${name}. Cancel, and delete everything that Farwharf stored there?`))) {
      throw new AppError(
        'conflict',
        `${jobs} not ended on ${name}, so nothing was removed. Wait for the end, or cancel with --remove --yes.`,
      );
    }
    await dismantle(call, build, true, confirm);
  }
  await runToEnd(call, deleteScript);
  forgetMachine(client.home, name);
  await closeSharedConnection(client, machine);
}

/** Stops the service. Returns how many jobs have not ended; 0 once it is stopped. */
async function dismantle(
  call: SshCall,
  build: string,
  isForced: boolean,
  confirm: RemoveOptions['confirm'],
): Promise<number> {
  const line = await runToEnd(call, (nonce) => dismantleScript(nonce, build, isForced));
  if (line.trim() === 'missing') return 0;
  const { data: result = { error: 'its answer is not understood' } } = dismantled.safeParse(tryParseJson(line));
  if ('unfinished' in result) return result.unfinished;
  const problem = `The service on ${call.machine} could not be stopped (${printableLine(result.error)}).`;
  if (await confirm(`${problem} Delete its files all the same? Jobs that still run there lose theirs.`)) return 0;
  throw new AppError('conflict', `${problem} Nothing was removed. Delete its files all the same with --remove --yes.`);
}
