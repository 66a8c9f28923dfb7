import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { AppError, assertNever } from '../../core/errors.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { portTitle } from '../../jobs/ports/portText.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import { writeUserSetting } from '../contributions/config.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import { type PickItem, pickRow, showCancellable, showDone } from '../ui/show.ts';
import type { JobPorts, OfferedPort, PortPage } from './jobPorts.ts';
import type { JobTunnels } from './jobTunnels.ts';

// Part of VS Code; some editors made from it have none.
const SIMPLE_BROWSER = 'vscode.simple-browser';

interface OpenPortDeps {
  readonly ports: Pick<JobPorts, 'describe' | 'forward' | 'offered' | 'stop'>;
  readonly tunnels: Pick<JobTunnels, 'use'>;
}

/** A page as a log names it. */
const pageArgument = z.object({ port: z.int(), scheme: z.enum(['http', 'https']), rest: z.string().startsWith('/') });
/** What the status bar offers. */
const offeredArgument = z.object({ offered: z.literal(true) });
type Page = z.infer<typeof pageArgument>;

export function readPageArgument(argument: unknown): Page | undefined {
  return pageArgument.safeParse(argument).data;
}

export function isOfferedArgument(argument: unknown): boolean {
  return offeredArgument.safeParse(argument).success;
}

/** Opens a page that the log of a job names, in the browser. */
export async function openPrintedPage(deps: OpenPortDeps, record: JobRecord, page: Page): Promise<void> {
  await open(await forward(deps, record, page.port), page, 'browser');
}

/** Asks which port of a job to open, and how. */
export async function openJobPort({ ports, tunnels }: OpenPortDeps, record: JobRecord): Promise<void> {
  const script = shownScript(record.script);
  // It is used again for what the user chooses.
  using tunnel = await showCancellable(l10n.t('Connecting to {0}', script), () => tunnels.use(record));
  const listening = await tunnel.client.ports();
  if (listening.length === 0) {
    throw new AppError(
      'missing',
      l10n.t('{0} listens on no port of its own machine. A server has a port once it accepts connections.', script),
    );
  }
  const found = listening.map((port) => ports.describe(record, port));
  await choosePort({ ports, tunnels }, found, false);
}

/** Asks what to do with the ports that the status bar offers. */
export async function openOffered(deps: OpenPortDeps): Promise<void> {
  await choosePort(deps, deps.ports.offered, true);
}

async function choosePort(deps: OpenPortDeps, found: readonly OfferedPort[], isOffered: boolean): Promise<void> {
  const rows = found.map((each) => ({
    label: label`$(${each.localPort === undefined ? 'plug' : 'radio-tower'}) ${portTitle(each.port)}`,
    description: withoutIcons(shownScript(each.record.script)),
    ...(each.localPort !== undefined && { detail: label`${forwardedText(each.localPort)}` }),
    each,
  }));
  const [first, ...others] = rows;
  const title = l10n.t('Open Port of Job');
  const chosen = others.length === 0 ? first : await pickRow(rows, { title, matchOnDescription: true });
  if (chosen !== undefined) await chooseAction(deps, chosen.each, isOffered);
}

interface ActionRow extends PickItem {
  readonly action: 'browser' | 'beside' | 'copy' | 'stop' | 'never';
}

async function chooseAction(deps: OpenPortDeps, offered: OfferedPort, isOffered: boolean): Promise<void> {
  const { record, port, page, localPort } = offered;
  const hasSimpleBrowser = vscode.extensions.getExtension(SIMPLE_BROWSER) !== undefined;
  const rows: readonly ActionRow[] = [
    { label: label`$(link-external) ${l10n.t('Open in Browser')}`, action: 'browser' },
    ...(hasSimpleBrowser
      ? ([{ label: label`$(split-horizontal) ${l10n.t('Open Beside')}`, action: 'beside' }] as const)
      : []),
    { label: label`$(copy) ${l10n.t('Copy Address')}`, action: 'copy' },
    ...(localPort === undefined
      ? []
      : ([{ label: label`$(debug-stop) ${l10n.t('Stop Forwarding')}`, action: 'stop' }] as const)),
    ...(isOffered ? ([{ label: label`$(bell-slash) ${l10n.t('Never Offer Ports')}`, action: 'never' }] as const) : []),
  ];
  const title = l10n.t('{0} of {1}', portTitle(port), shownScript(record.script));
  const placeHolder =
    localPort === undefined
      ? l10n.t('Forwards the port to this machine until the job closes it')
      : forwardedText(localPort);
  const action = (await pickRow(rows, { title, placeHolder }))?.action;
  switch (action) {
    case 'browser':
    case 'beside':
      return open(await forward(deps, record, port.port), page, action);
    case 'copy': {
      const shown = await vscode.env.asExternalUri(addressOf(await forward(deps, record, port.port), page));
      const address = shown.toString(true);
      await vscode.env.clipboard.writeText(address);
      return showDone(l10n.t('Copied {0}', address));
    }
    case 'stop':
      return deps.ports.stop(record, port.port);
    case 'never':
      return writeUserSetting('offerPorts', false);
    case undefined:
      return undefined;
    default:
      return assertNever(action);
  }
}

async function forward({ ports }: OpenPortDeps, record: JobRecord, port: number): Promise<number> {
  const title = l10n.t('Forwarding port {0} of {1}', port, shownScript(record.script));
  const localPort = await showCancellable(title, (signal) => ports.forward(record, port, signal));
  if (localPort !== port)
    showDone(l10n.t('Port {0} of this machine is in use. The port of the job is {1} here.', port, localPort));
  return localPort;
}

/** Opens a page of a forwarded port, which may be on another machine than the window's: VS Code forwards it further then. */
async function open(localPort: number, page: PortPage, where: 'browser' | 'beside'): Promise<void> {
  const address = addressOf(localPort, page);
  if (where === 'browser') {
    await vscode.env.openExternal(address);
    return;
  }
  const shown = await vscode.env.asExternalUri(address);
  await vscode.commands.executeCommand('simpleBrowser.api.open', shown, { viewColumn: vscode.ViewColumn.Beside });
}

/** Not `localhost`: where another program has the port on ::1, that name leads there. */
function addressOf(localPort: number, { scheme, rest }: PortPage): vscode.Uri {
  return vscode.Uri.parse(`${scheme}://127.0.0.1:${localPort}${rest}`, true);
}

function forwardedText(localPort: number): string {
  return l10n.t('Forwarded to 127.0.0.1:{0}', localPort);
}
