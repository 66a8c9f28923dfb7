import * as vscode from 'vscode';
import { assertNever, isAbort } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { machineHost } from '../../jobs/service/host.ts';
import { type ConnectPhase, connectMachine as connect, machineNameOf } from '../../machines/connectMachine.ts';
import type { Machine } from '../../machines/machineRecords.ts';
import { configuredHosts } from '../../machines/ssh/configuredHosts.ts';
import { writeUserSetting } from '../contributions/config.ts';
import { withSignal } from '../ui/abort.ts';
import { explain } from '../ui/errorText.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import { askModal, askText, pickRow, showInformation, showProgress, showWarning } from '../ui/show.ts';
import type { Services } from './services.ts';

const COPY = 'Copy';

/** Connects a machine that the user can ssh to, and selects it as the host. Does nothing if the user cancels. */
export async function connectMachine(services: Services): Promise<void> {
  const destination = await chooseDestination();
  if (destination === undefined) return;
  let machine: Machine;
  try {
    machine = await connectWithProgress(services, destination);
  } catch (error) {
    if (isAbort(error)) return;
    throw error;
  }
  await writeUserSetting('host', machineHost(machine.name));
  await services.account.refresh(services.signal);
  void showInformation(`Connected ${machine.name}. New jobs run there.`);
}

function connectWithProgress({ home, questions, dist }: Services, destination: string): Promise<Machine> {
  const title = `Connecting ${machineNameOf(destination)}`;
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const work = (progress: vscode.Progress<{ message?: string }>, token: vscode.CancellationToken): Promise<Machine> =>
    withSignal(token, async (signal) =>
      connect({
        client: { home, env: await questions.environment() },
        target: { destination },
        dist,
        signal,
        confirm: async (question) => (await askModal(question, {}, COPY)) === COPY,
        onPhase: (phase) => progress.report({ message: describePhase(phase) }),
        onNote: (note) => void showWarning(note),
      }),
    );
  return Promise.resolve(showProgress(options, work));
}

function describePhase(phase: ConnectPhase): string {
  switch (phase.type) {
    case 'inspect':
      return 'inspecting the machine';
    case 'download':
      return 'downloading Node.js';
    case 'copy':
      return `copying ${phase.what}, ${formatBytes(phase.doneBytes)} of ${formatBytes(phase.totalBytes)}`;
    case 'start':
      return 'starting the service';
    default:
      return assertNever(phase);
  }
}

/** A name of the ssh configuration, or what the user types. */
async function chooseDestination(): Promise<string | undefined> {
  const hosts = await configuredHosts();
  if (hosts.length === 0) return askDestination();
  const other = { label: label`$(add) Another Machine…`, description: label``, destination: undefined };
  const rows = hosts.map((host) => ({
    label: label`$(remote) ${host}`,
    description: withoutIcons(''),
    destination: host,
  }));
  const chosen = await pickRow([...rows, other], {
    title: 'Connect a machine over SSH',
    placeHolder: 'Select a machine of your ssh configuration.',
  });
  return chosen === undefined ? undefined : (chosen.destination ?? askDestination());
}

function askDestination(): Thenable<string | undefined> {
  return askText({
    title: 'Connect a machine over SSH',
    prompt: 'Enter the machine as for ssh. Nothing has to be installed there.',
    placeHolder: 'user@gpu-box',
    ignoreFocusOut: true,
    validateInput: (text) => {
      try {
        machineNameOf(text.trim());
        return undefined;
      } catch (error) {
        return explain(error).sentence;
      }
    },
  }).then((text) => text?.trim());
}
