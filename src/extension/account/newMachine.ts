import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { assertNever, isAbort } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { machineHost } from '../../jobs/service/host.ts';
import { type ConnectPhase, connectMachine as connect, machineNameOf } from '../../machines/connectMachine.ts';
import { describeOffer } from '../../machines/install/configureCluster.ts';
import type { Machine } from '../../machines/machineRecords.ts';
import type { AccountMonitor } from './account.ts';
import type { SshQuestions } from './sshQuestions.ts';
import { configuredHosts } from '../../machines/ssh/sshCommand.ts';
import { writeUserSetting } from '../contributions/config.ts';
import { explain } from '../ui/errorText.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import { askModal, askText, pickRow, showCancellable, showInformation, showWarning } from '../ui/show.ts';

const COPY = l10n.t('Copy');
const USE_CLUSTER = l10n.t('Use Cluster');
const USE_NODE = l10n.t('Use Login Node');
// A dialog does not scroll on every system.
const MOST_SHOWN = 12;

export interface MachineDeps extends Pick<WindowParts, 'home' | 'signal'> {
  readonly account: AccountMonitor;
  /** The folder with the built program. */
  readonly dist: string;
  readonly questions: SshQuestions;
}

/** Connects a machine that the user can ssh to, and selects it as the host. Does nothing if the user cancels. */
export async function connectNewMachine(deps: MachineDeps): Promise<void> {
  const destination = await chooseDestination();
  if (destination === undefined) return;
  let machine: Machine;
  try {
    machine = await connectWithProgress(deps, destination);
  } catch (error) {
    if (isAbort(error)) return;
    throw error;
  }
  await writeUserSetting('host', machineHost(machine.name));
  await deps.account.refresh(deps.signal);
  void showInformation(l10n.t('Connected {0}. New jobs run there.', machine.name));
}

function connectWithProgress({ home, questions, dist }: MachineDeps, destination: string): Promise<Machine> {
  const name = machineNameOf(destination);
  return showCancellable(l10n.t('Connecting {0}', name), async (signal, progress) =>
    connect({
      client: { home, env: await questions.environment() },
      target: { destination },
      dist,
      signal,
      confirm: async (question) => (await askModal(question, {}, COPY)) === COPY,
      chooseCluster: async (classes) => {
        const question = l10n.t('{0} is a login node of a Slurm cluster. Run jobs on the cluster?', name);
        const detail = describeOffer(classes, MOST_SHOWN).join('\n');
        const answer = await askModal(question, { detail }, USE_CLUSTER, USE_NODE);
        if (answer === undefined) AbortSignal.abort().throwIfAborted();
        return answer === USE_CLUSTER;
      },
      onPhase: (phase) => progress.report({ message: describePhase(phase) }),
      onNote: (note) => void showWarning(note),
    }),
  );
}

function describePhase(phase: ConnectPhase): string {
  switch (phase.type) {
    case 'inspect':
      return l10n.t('inspecting the machine');
    case 'download':
      return l10n.t('downloading Node.js');
    case 'copy':
      return l10n.t('copying {0}, {1} of {2}', phase.what, formatBytes(phase.doneBytes), formatBytes(phase.totalBytes));
    case 'start':
      return l10n.t('starting the service');
    default:
      return assertNever(phase);
  }
}

/** A name of the ssh configuration, or what the user types. */
async function chooseDestination(): Promise<string | undefined> {
  const hosts = await configuredHosts();
  if (hosts.length === 0) return askDestination();
  const other = { label: label`$(add) ${l10n.t('Another Machine…')}`, description: label``, destination: undefined };
  const rows = hosts.map((host) => ({
    label: label`$(remote) ${host}`,
    description: withoutIcons(''),
    destination: host,
  }));
  const row = await pickRow([...rows, other], {
    title: l10n.t('Connect a machine over SSH'),
    placeHolder: l10n.t('Select a machine of your ssh configuration.'),
  });
  return row === undefined ? undefined : (row.destination ?? askDestination());
}

function askDestination(): Thenable<string | undefined> {
  return askText({
    title: l10n.t('Connect a machine over SSH'),
    prompt: l10n.t('Enter the machine as for ssh. Nothing has to be installed there.'),
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
