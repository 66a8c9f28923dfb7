import { messageOf } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { requireOwnHome } from '../../core/files/ownFiles.ts';
import { type Machine, readMachines } from '../../machines/machineRecords.ts';
import { MachineAgent } from '../../machines/machineAgent.ts';
import type { Context } from '../command/commandContext.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';

// A machine that is off must not delay the list for long.
const READY_MS = 15_000;

interface MachineState {
  readonly name: string;
  readonly address: string;
  readonly executor: string;
  readonly version: string;
  readonly answers: boolean;
  readonly problem: string | null;
}

const COLUMNS: readonly RecordColumn<MachineState>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'ADDRESS', cell: ({ address }) => address },
  { title: 'EXECUTOR', cell: ({ executor }) => executor, dropOrder: 2 },
  { title: 'VERSION', cell: ({ version }) => version.replace(/\+.*/, ''), dropOrder: 1 },
  { title: 'STATE', cell: ({ answers }) => (answers ? 'answers' : 'does not answer') },
];

/** `farwharf machines`: the connected machines, and whether they answer now. JSON: `{ machines: [{ name, address, … }] }`. */
export async function listMachines({ terminal, env, signal }: Context): Promise<void> {
  const home = farwharfHome(env);
  requireOwnHome(home);
  const machineRecords = readMachines(home);
  if (machineRecords.length > 0) terminal.status('checking the machines …');
  const machines = await Promise.all(machineRecords.map((machine) => stateOf(machine, { home, env, signal })));
  if (terminal.json({ machines })) return;
  if (machines.length === 0) {
    terminal.note('No machine is connected. Connect one that you can ssh to:  farwharf connect USER@HOST');
    return;
  }
  answerTable(terminal, COLUMNS, machines);
  for (const { name, problem } of machines) {
    if (problem !== null) terminal.note(problem.startsWith(`${name}: `) ? problem : `${name}: ${problem}`);
  }
}

async function stateOf(
  machine: Machine,
  { home, env, signal }: { home: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<MachineState> {
  const { name, destination, build } = machine;
  const call = { client: { home, env }, target: machine, machine: name, signal, readyMs: READY_MS };
  const agent = new MachineAgent(call, build);
  try {
    const { executor, version } = await agent.service();
    return { name, address: destination, executor, version, answers: true, problem: null };
  } catch (error) {
    signal.throwIfAborted();
    const { executor, version } = machine;
    return { name, address: destination, executor, version, answers: false, problem: messageOf(error) };
  } finally {
    agent.destroy();
  }
}
