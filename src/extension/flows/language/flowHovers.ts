import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import type { RemoteService } from '../../../core/processes/workerRpc.ts';
import type { NodeNeighbours } from '../../../flows/assist/hover.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import { escapeMarkdown } from '../../ui/markdown.ts';
import { type FlowDocuments, readerPath } from '../documents/flowDocuments.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';
import { describeNodeRun, type NodeRun } from '../runs/nodeRuns.ts';
import { toRange } from '../documents/ranges.ts';
import type { RunDecorations } from '../runs/runDecorations.ts';
import { hover } from '../../ui/show.ts';

/** Tells of the node under the pointer: what leads to it, where it leads, and what it did in the last run. */
export class FlowHovers implements vscode.HoverProvider, Disposable {
  readonly #documents: FlowDocuments;
  readonly #reader: RemoteService<FlowWorkerService>['reader'];
  readonly #decorations: RunDecorations;
  readonly #disposables = new DisposableStore();

  constructor(
    documents: FlowDocuments,
    reader: RemoteService<FlowWorkerService>['reader'],
    decorations: RunDecorations,
  ) {
    this.#documents = documents;
    this.#reader = reader;
    this.#decorations = decorations;
    this.#disposables.add(vscode.languages.registerHoverProvider(FLOW_SELECTOR, this));
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    if (!looksLikeFlow(document)) return undefined;
    await this.#documents.read(document);
    const found = await this.#reader.neighbours(readerPath(document), document.offsetAt(position));
    const [first] = found;
    if (first === undefined) return undefined;
    const runs = this.#decorations.runsIn(document);
    return new vscode.Hover(
      found.map((one) => describe(one, runs)),
      toRange(first.range),
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }
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
