import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { portTitle } from '../../jobs/ports/portText.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import type { JobPorts } from './jobPorts.ts';

const COMMAND = 'farwharf.openJobPort';
// Beside the item with the balance.
const PRIORITY = 99;

/** Shows the ports that are offered or forwarded in the status bar. */
export function showPortStatus(ports: Pick<JobPorts, 'offered' | 'onDidChange'>): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('farwharf.ports', vscode.StatusBarAlignment.Right, PRIORITY);
  item.name = l10n.t('Farwharf Ports');
  item.command = { title: l10n.t('Open Port of Job'), command: COMMAND, arguments: [{ offered: true }] };
  const listening = ports.onDidChange(() => {
    const { offered } = ports;
    const [first, ...others] = offered;
    if (first === undefined) return item.hide();
    const text = others.length === 0 ? portTitle(first.port) : l10n.t('{0} ports', offered.length);
    const icon = offered.some(({ localPort }) => localPort !== undefined) ? 'radio-tower' : 'plug';
    item.text = label`$(${icon}) ${text}`;
    item.tooltip = offered.map(({ port, record }) => lineOf(portTitle(port), shownScript(record.script))).join('\n');
    item.accessibilityInformation = { label: withoutIcons(`${text}, ${l10n.t('Open Port of Job')}`), role: 'button' };
    return item.show();
  });
  return vscode.Disposable.from(listening, item);
}

function lineOf(title: string, script: string): string {
  return withoutIcons(l10n.t('{0} of {1}', title, script));
}
