import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import type { NodeNeighbours } from '../../../flows/language/hover.ts';
import { escapeMarkdown } from '../../ui/markdown.ts';
import { type FlowDocuments, readerPath, type RemoteReader } from '../documents/flowDocuments.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';
import { describeNodeRun, type NodeRun } from '../runs/nodeRuns.ts';
import { toRange } from '../documents/ranges.ts';
import type { RunDecorations } from '../runs/runDecorations.ts';
import { hover } from '../../ui/show.ts';

/** Describes the node under the pointer: the nodes before and after it, and what it did in the last run. */
export function registerFlowHovers(
  documents: FlowDocuments,
  reader: RemoteReader,
  decorations: RunDecorations,
): Disposable {
  return vscode.languages.registerHoverProvider(FLOW_SELECTOR, {
    async provideHover(document, position) {
      if (!looksLikeFlow(document)) return undefined;
      await documents.read(document);
      const found = await reader.neighbours(readerPath(document), document.offsetAt(position));
      const [first] = found;
      if (first === undefined) return undefined;
      const runs = decorations.runsIn(document);
      const texts = found.map((one) => describe(one, runs));
      return new vscode.Hover(texts, toRange(first.range));
    },
  });
}

function describe(
  { flow, node, isStart, before, after }: NodeNeighbours,
  runs: readonly NodeRun[],
): vscode.MarkdownString {
  const name = (label: string): string => `**${escapeMarkdown(label)}**`;
  const by = (action: string): string => `*${escapeMarkdown(action)}*`;
  const run = runs.find((one) => one.node.id === node.id && one.node.label === node.label);
  const lines = [
    [l10n.t('{0} in {1}', name(node.label), escapeMarkdown(flow.label)), ...(isStart ? [l10n.t('start')] : [])].join(
      ' · ',
    ),
    ...before.map(({ label, action }) => `$(arrow-left) ${l10n.t('{0} by {1}', name(label), by(action))}`),
    ...after.map(({ label, action }) => {
      if (label === undefined) return `$(warning) ${l10n.t('{0} is not connected', by(action))}`;
      return label === null
        ? `$(debug-stop) ${l10n.t('{0} ends the flow', by(action))}`
        : `$(arrow-right) ${l10n.t('{0} to {1}', by(action), name(label))}`;
    }),
    ...(run === undefined ? [] : [`$(history) ${escapeMarkdown(describeNodeRun(run.state))}`]),
  ];
  return hover(lines.join('\n\n'), { hasIcons: true });
}
