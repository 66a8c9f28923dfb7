import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import type { FlowCompletion } from '../../../flows/language/completions.ts';
import { type FlowDocuments, readerPath, type RemoteReader } from '../documents/flowDocuments.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';
import type { NodeNeighbours } from '../../../flows/language/hover.ts';
import { escapeMarkdown } from '../../ui/markdown.ts';
import { describeNodeRun, type NodeRun } from '../runs/nodeRuns.ts';
import { toRange } from '../documents/ranges.ts';
import type { RunDecorations } from '../runs/runDecorations.ts';
import { hover } from '../../ui/show.ts';
import type { FlowGraph } from '../../../flows/graph/graph.ts';
import type { FlowTarget } from '../documents/flowTarget.ts';
import { AppError } from '../../../core/errors.ts';
import { toWorkspaceEdit } from '../documents/sourceEdits.ts';

const KINDS: Readonly<Record<FlowCompletion['kind'], vscode.CompletionItemKind>> = {
  action: vscode.CompletionItemKind.EnumMember,
  node: vscode.CompletionItemKind.Variable,
  key: vscode.CompletionItemKind.Property,
};

/** Completes nodes and actions inside `connect`, and keys of the shared state. */
export function registerFlowCompletions(documents: FlowDocuments, reader: RemoteReader): Disposable {
  const provider: vscode.CompletionItemProvider = {
    async provideCompletionItems(document, position) {
      if (!looksLikeFlow(document)) return [];
      await documents.read(document);
      const found = await reader.complete(readerPath(document), document.offsetAt(position));
      return found.map(({ label, kind, text, from, detail }, index) => {
        const item = new vscode.CompletionItem({ label, description: detail }, KINDS[kind]);
        item.insertText = text;
        item.range = new vscode.Range(document.positionAt(from), position);
        item.sortText = `0${String(index).padStart(4, '0')}`; // before the completions of the language itself
        return item;
      });
    },
  };
  return vscode.languages.registerCompletionItemProvider(FLOW_SELECTOR, provider, '.', "'", '"', '(', ',');
}

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

/** Marks the lines that create flows in the gutter, so that they are found while scrolling. */
export function showFlowMarks(documents: FlowDocuments, extension: vscode.Uri): Disposable {
  const disposables = new DisposableStore();
  const mark = disposables.add(
    vscode.window.createTextEditorDecorationType({
      gutterIconPath: vscode.Uri.joinPath(extension, 'media', 'flowGutter.svg'),
      gutterIconSize: 'contain',
      overviewRulerColor: new vscode.ThemeColor('charts.green'),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
  );
  const drawAll = (): void => {
    for (const editor of vscode.window.visibleTextEditors) {
      const readout = documents.last(editor.document.uri);
      if (readout === undefined || readout.version !== editor.document.version) continue; // the next reading draws
      const path = readerPath(editor.document);
      const starts = readout.file.flows.flatMap(({ range, label }) => {
        const { start } = toRange(range);
        return range.file === path
          ? [{ range: new vscode.Range(start, start), hoverMessage: l10n.t('Flow {0}', label) }]
          : [];
      });
      editor.setDecorations(mark, starts);
    }
  };
  disposables.add(documents.onDidRead(drawAll));
  disposables.add(vscode.window.onDidChangeVisibleTextEditors(drawAll));
  return disposables;
}

/** Renames actions and keys of the shared state. All other names are left to the language's own provider. */
export function registerFlowRenames(documents: FlowDocuments, reader: RemoteReader): Disposable {
  return vscode.languages.registerRenameProvider(FLOW_SELECTOR, {
    /** @throws AppError if there is no action or key here, so that VS Code asks the next provider. */
    async prepareRename(document, position) {
      const file = looksLikeFlow(document) ? readerPath(document) : undefined;
      if (file !== undefined) await documents.read(document);
      const symbol = file === undefined ? undefined : await reader.symbol(file, document.offsetAt(position));
      if (symbol === undefined)
        throw new AppError('missing', l10n.t('Only actions and keys of a flow can be renamed here.'));
      const range = toRange(symbol.range);
      const isQuoted = /^['"`]/.test(document.getText(range));
      return { range: isQuoted ? inside(range) : range, placeholder: symbol.name };
    },
    /** @throws AppError with the reason if the rename would not be safe. */
    async provideRenameEdits(document, position, newName) {
      await documents.read(document);
      const outcome = await reader.rename(readerPath(document), document.offsetAt(position), newName);
      if (!outcome.ok) throw new AppError('refused', outcome.reason);
      return toWorkspaceEdit(outcome.edits);
    },
  });
}

function inside({ start, end }: vscode.Range): vscode.Range {
  return new vscode.Range(start.translate(0, 1), end.translate(0, -1));
}
