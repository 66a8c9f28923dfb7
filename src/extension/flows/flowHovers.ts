import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../core/lifetime.ts';
import type { FlowGraph, FlowNode } from '../../flows/graph.ts';
import { escapeMarkdown } from '../markdown.ts';
import { type FlowDocuments, readerPath } from './flowDocuments.ts';
import { looksLikeFlow } from './flowText.ts';
import { describeNodeRun } from './nodeRuns.ts';
import { contains } from './ranges.ts';
import type { RunDecorations } from './runDecorations.ts';

/** Tells of the node under the pointer: what leads to it, where it leads, and what it did in the last run. */
export class FlowHovers implements vscode.HoverProvider, Disposable {
  readonly #documents: FlowDocuments;
  readonly #decorations: RunDecorations;
  readonly #disposables = new DisposableStore();

  constructor(documents: FlowDocuments, decorations: RunDecorations) {
    this.#documents = documents;
    this.#decorations = decorations;
    const selector = [{ language: 'typescript' }, { language: 'javascript' }];
    this.#disposables.add(vscode.languages.registerHoverProvider(selector, this));
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    if (!looksLikeFlow(document)) return undefined;
    const { file } = await this.#documents.read(document);
    const word = document.getText(document.getWordRangeAtPosition(position));
    const path = readerPath(document);
    const offset = document.offsetAt(position);
    for (const flow of file.flows) {
      const node = flow.nodes.find((one) => isUnder(one, word, path, offset));
      if (node !== undefined) return new vscode.Hover(this.#describe(document, flow, node));
    }
    return undefined;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #describe(document: vscode.TextDocument, flow: FlowGraph, node: FlowNode): vscode.MarkdownString {
    const text = new vscode.MarkdownString('', true);
    const name = (id: string): string => `\`${flow.nodes.find((one) => one.id === id)?.label ?? id}\``;
    text.appendMarkdown(`**${escapeMarkdown(node.label)}** in ${escapeMarkdown(flow.label)}`);
    if (node.id === flow.start) text.appendMarkdown(' · start');
    const incoming = flow.edges.filter(({ target }) => target === node.id);
    const outgoing = flow.edges.filter(({ source }) => source === node.id);
    for (const { source, action } of incoming)
      text.appendMarkdown(`\n\n$(arrow-left) ${name(source)} by \`${action}\``);
    for (const { target, action } of outgoing) {
      text.appendMarkdown(`\n\n$(arrow-right) \`${action}\` to ${target === null ? 'the end' : name(target)}`);
    }
    const run = this.#decorations
      .runsIn(document)
      .find((one) => one.node.id === node.id && one.node.label === node.label);
    if (run !== undefined) text.appendMarkdown(`\n\n$(history) ${escapeMarkdown(describeNodeRun(run.state))}`);
    return text;
  }
}

/** Whether a node's class or variable is named under the pointer. */
function isUnder({ id, className, ranges }: FlowNode, word: string, path: string, offset: number): boolean {
  if (word === id) return true;
  const isHere = (range: typeof ranges.class): boolean =>
    range !== undefined && range.file === path && contains(range, offset);
  return word === className && (isHere(ranges.class) || isHere(ranges.instance));
}
