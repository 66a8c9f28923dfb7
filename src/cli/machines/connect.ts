import { dirname, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { requireOwnHome } from '../../core/files/ownFiles.ts';
import { formatBytes, formatDuration } from '../../core/text/format.ts';
import { printable } from '../../core/text/printable.ts';
import { type ConnectPhase, connectMachine, machineNameOf } from '../../machines/connectMachine.ts';
import { describeOffer } from '../../machines/install/configureCluster.ts';
import { findMachine, forgetMachine, type Machine } from '../../machines/machineRecords.ts';
import { removeMachine } from '../../machines/removeMachine.ts';
import { MachineUnreachable } from '../../machines/ssh/sshFailure.ts';
import { confirm } from '../command/confirm.ts';
import type { Context } from '../command/commandContext.ts';
import { Progress } from '../terminal/progressLine.ts';

interface ConnectFlags {
  readonly name?: string;
  readonly sshConfig?: string;
  readonly node?: string;
  readonly yes: boolean;
  readonly remove: boolean;
  readonly forget: boolean;
}

/**
 * `farwharf connect DEST`: makes a machine usable, or with `--remove` disconnects it, or with `--forget` takes it from the list only. JSON:
 * the machine.
 */
export async function connectDestination(context: Context, destination: string, flags: ConnectFlags): Promise<void> {
  const { cwd, env, terminal, signal } = context;
  const home = farwharfHome(env);
  requireOwnHome(home);
  const client = { home, env };
  const agree = async (question: string): Promise<boolean> => flags.yes || confirm(question, context);
  if (flags.forget) {
    if (flags.remove) throw new AppError('bad-input', 'Use either --remove or --forget.');
    const { name } = knownMachine(home, destination, flags.name);
    forgetMachine(home, name);
    if (!terminal.json({ name, forgotten: true })) {
      terminal.note(`${name} is no longer in the list. What Farwharf stored there was not deleted.`);
    }
    return;
  }
  if (flags.remove) {
    const machine = knownMachine(home, destination, flags.name);
    terminal.status(`stopping the service on ${machine.name}, and deleting its files …`);
    const confirmed = (question: string): Promise<boolean> => {
      terminal.clearStatus();
      return agree(question);
    };
    await removeMachine(machine, { client, signal, confirm: confirmed }).catch((error: unknown) => {
      terminal.clearStatus();
      if (error instanceof MachineUnreachable || (error instanceof AppError && error.code === 'refused')) {
        terminal.note(`If ${machine.name} no longer exists:  farwharf connect ${machine.name} --forget`);
      }
      throw error;
    });
    if (!terminal.json({ name: machine.name, removed: true })) {
      terminal.note(`Disconnected ${machine.name}. Nothing of Farwharf is left there.`);
    }
    return;
  }
  const report = new ConnectReport(context, machineNameOf(destination, flags.name));
  const machine = await connectMachine({
    client,
    target: { destination, configFile: flags.sshConfig && resolve(cwd, flags.sshConfig) },
    name: flags.name,
    node: flags.node,
    dist: builtFolder(context),
    signal,
    confirm: agree,
    chooseCluster: async (classes) => {
      terminal.clearStatus();
      terminal.note(
        `${report.name} is a login node of a Slurm cluster, on which jobs can run with these machine classes:`,
      );
      for (const line of describeOffer(classes)) terminal.note(printable`  ${line}`);
      if (await agree('Run jobs on the cluster?')) return true;
      terminal.note(`Jobs run on ${report.name} itself. For the cluster:  farwharf connect ${destination} --yes`);
      return false;
    },
    onPhase: report.show,
    onNote: (note) => terminal.note(note),
  });
  report.finish();
  const { name, executor, version } = machine;
  if (terminal.json({ name, address: machine.destination, executor, version })) return;
  const what = executor === 'slurm' ? 'its Slurm cluster' : 'it';
  terminal.note(`Connected ${name}. Jobs run on ${what}:`);
  terminal.note(`  farwharf submit --remote ${name} --script FILE --watch`);
}

/** The folder with the built program: the one of this program, or that of its sources. */
function builtFolder({ program: { entry } }: Context): string {
  const folder = dirname(entry);
  return entry.endsWith('.ts') ? resolve(folder, '../../dist') : folder;
}

/** The connected machine that a name or a destination means. */
function knownMachine(home: string, destination: string, name: string | undefined): Machine {
  const machineName = machineNameOf(destination, name);
  const machine = findMachine(home, machineName);
  if (machine !== undefined) return machine;
  throw new AppError(
    'missing',
    `No machine named ${machineName} is connected. List the connected ones:  farwharf machines`,
  );
}

/** Shows what is done while a machine is connected. */
class ConnectReport {
  readonly #context: Context;
  readonly name: string;
  readonly #started = performance.now();
  #copy: { readonly what: string; readonly progress: Progress; bytes: number } | undefined;

  constructor(context: Context, name: string) {
    this.#context = context;
    this.name = name;
  }

  readonly show = (phase: ConnectPhase): void => {
    const { terminal } = this.#context;
    if (phase.type === 'copy') {
      if (this.#copy?.what !== phase.what) {
        this.#endCopy();
        this.#copy = { what: phase.what, progress: new Progress(terminal, `copying ${phase.what}`), bytes: 0 };
      }
      this.#copy.bytes = phase.doneBytes;
      this.#copy.progress.update(phase.doneBytes, phase.totalBytes);
      return;
    }
    this.#endCopy();
    if (phase.type === 'inspect') terminal.status(`inspecting ${this.name} …`);
    else if (phase.type === 'download') terminal.status('downloading Node.js …');
    else terminal.status(`starting the service on ${this.name} …`);
  };

  finish(): void {
    this.#endCopy();
    const { terminal } = this.#context;
    terminal.clearStatus();
    terminal.phase(`connected in ${formatDuration((performance.now() - this.#started) / 1000)}`);
  }

  #endCopy(): void {
    if (this.#copy === undefined) return;
    const { what, bytes, progress } = this.#copy;
    this.#copy = undefined;
    this.#context.terminal.phase(`copied ${what} (${formatBytes(bytes)}) in ${formatDuration(progress.seconds)}`);
  }
}
