import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import type { FlowGraph } from '../../../flows/graph/graph.ts';
import { type FlowDocuments, readerPath } from '../documents/flowDocuments.ts';
import type { FlowTarget } from '../documents/flowTarget.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';
import { toRange } from '../documents/ranges.ts';

/** Shows the actions of a flow above the line that creates it. */
export function registerFlowLenses(documents: FlowDocuments): Disposable {
  return vscode.languages.registerCodeLensProvider(FLOW_SELECTOR, {
    async provideCodeLenses(document) {
      if (!looksLikeFlow(document)) return [];
      const { file } = await documents.read(document);
      const path = readerPath(document);
      return file.flows.filter(({ range }) => range.file === path).flatMap((flow) => lensesOf(document, flow));
    },
  });
}

function lensesOf({ uri }: vscode.TextDocument, flow: FlowGraph): vscode.CodeLens[] {
  const target: FlowTarget = { uri: uri.toString(), flow: flow.id };
  const lens = (title: string, command: string, tooltip: string): vscode.CodeLens =>
    new vscode.CodeLens(toRange(flow.range), { title, command, tooltip, arguments: [target] });
  return [
    lens(`$(play) ${l10n.t('Run')}`, 'farwharf.runFlow', l10n.t('Run {0} on this machine', flow.label)),
    lens(`$(debug-alt) ${l10n.t('Debug')}`, 'farwharf.debugFlow', l10n.t('Run {0} with breakpoints', flow.label)),
    lens(
      `$(type-hierarchy) ${l10n.t('Open Canvas')}`,
      'farwharf.openCanvas',
      l10n.t('Show {0} as a graph', flow.label),
    ),
    lens(
      `$(rocket) ${l10n.t('Submit as Job')}`,
      'farwharf.submitFlow',
      l10n.t('Run {0} on remote compute', flow.label),
    ),
  ];
}
