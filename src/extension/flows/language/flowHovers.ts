import * as vscode from 'vscode';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import type { NodeNeighbours } from '../../../flows/assist/hover.ts';
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
    `${name(node.label)} in ${escapeMarkdown(flow.label)}${isStart ? ' · start' : ''}`,
    ...before.map(({ label, action }) => `$(arrow-left) ${name(label)} by ${by(action)}`),
    ...after.map(({ label, action }) => {
      if (label === undefined) return `$(warning) ${by(action)} is not connected`;
      return label === null
        ? `$(debug-stop) ${by(action)} ends the flow`
        : `$(arrow-right) ${by(action)} to ${name(label)}`;
    }),
    ...(run === undefined ? [] : [`$(history) ${escapeMarkdown(describeNodeRun(run.state))}`]),
  ];
  return hover(lines.join('\n\n'), { hasIcons: true });
}
