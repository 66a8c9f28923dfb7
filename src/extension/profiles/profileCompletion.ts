import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';
import type { Services } from '../services/services.ts';
import { hostLabel } from '../ui/words.ts';

const FIELD = /"(machineClass|service)"\s*:\s*("[^"]*)?$/;

/** Completes machine classes, with their prices on the selected host, and the names of services. */
export async function completeProfile(
  { account, hosts, ledger }: Services,
  document: vscode.TextDocument,
  position: vscode.Position,
): Promise<vscode.CompletionItem[]> {
  const before = document.lineAt(position).text.slice(0, position.character);
  const [, field, typed = ''] = FIELD.exec(before) ?? [];
  const current = hosts.currentIfUsable();
  if (field === undefined || current === undefined) return [];
  const start = position.translate(0, -typed.length);
  const rest = /^[^",}]*"?/.exec(document.lineAt(position).text.slice(position.character))?.[0].length ?? 0;
  const range = new vscode.Range(start, typed === '' ? position : position.translate(0, rest));
  const item = (name: string, detail: string, index: number): vscode.CompletionItem => {
    const text = JSON.stringify(name);
    const completion = new vscode.CompletionItem(printableLine(text), vscode.CompletionItemKind.EnumMember);
    return Object.assign(completion, {
      detail: printableLine(detail),
      insertText: text,
      filterText: text,
      sortText: String(index).padStart(4, '0'),
      range,
    });
  };
  if (field === 'service') {
    const known = new Set([LOCAL_HOST, current, ...(await ledger.hosts())]);
    return [...known].map((host, index) =>
      item(host === LOCAL_HOST ? host : hostLabel(host), host === current ? l10n.t('selected') : '', index),
    );
  }
  return (account.last(current)?.rates ?? []).flatMap((rate, index) => {
    const { machineClass, creditsPerMinute, description } = rate;
    if (machineClass === null) return [];
    const price =
      creditsPerMinute === null
        ? l10n.t('no price on {0}', hostLabel(current))
        : l10n.t('{0} credits a minute on {1}', formatCredits(creditsPerMinute), hostLabel(current));
    return item(machineClass, description ? `${price} · ${description}` : price, index);
  });
}
