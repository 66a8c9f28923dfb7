import * as vscode from 'vscode';
import { printableLine } from '../../../core/text/printable.ts';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import { type FlowDocuments, readerPath } from '../documents/flowDocuments.ts';
import type { FlowRuns } from './flowRuns.ts';
import { describeNodeRun, type NodeRun, nodeRunsOf } from './nodeRuns.ts';

const MAX_TEXT = 120;
const DRAW_MS = 250;

/** Faded text after the lines of nodes: the state of each in the run that this window started last. */
export class RunDecorations implements Disposable {
  readonly #documents: FlowDocuments;
  readonly #runs: FlowRuns;
  readonly #done = textAfter('editorCodeLens.foreground');
  readonly #failed = textAfter('editorError.foreground');
  readonly #disposables = new DisposableStore();
  #timer: NodeJS.Timeout | undefined;

  constructor(documents: FlowDocuments, runs: FlowRuns) {
    this.#documents = documents;
    this.#runs = runs;
    const disposables = this.#disposables;
    disposables.add(this.#done);
    disposables.add(this.#failed);
    disposables.add(runs.onNews(() => this.#drawSoon()));
    disposables.add(documents.onDidRead(() => this.#drawSoon()));
    disposables.add(vscode.window.onDidChangeVisibleTextEditors(() => this.#drawSoon()));
  }

  /** The states of nodes in the last run, for hovers. */
  runsIn(document: vscode.TextDocument): readonly NodeRun[] {
    const readout = this.#documents.last(document.uri);
    const last = this.#runs.last(readerPath(document));
    const flow = readout?.file.flows.find(({ id }) => id === last?.flow);
    if (readout === undefined || last === undefined || flow === undefined) return [];
    return nodeRunsOf(readout.file, flow, last.nodes);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#disposables.dispose();
  }

  #drawSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const editor of vscode.window.visibleTextEditors) this.#draw(editor);
    }, DRAW_MS);
  }

  #draw(editor: vscode.TextEditor): void {
    const path = readerPath(editor.document);
    const done: vscode.DecorationOptions[] = [];
    const failed: vscode.DecorationOptions[] = [];
    for (const { node, state } of this.runsIn(editor.document)) {
      const place = node.ranges.class ?? node.ranges.instance;
      if (place.file !== path || place.start.line >= editor.document.lineCount) continue;
      const { range } = editor.document.lineAt(place.start.line);
      const text = printableLine(describeNodeRun(state));
      const contentText = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
      (state.status === 'failed' ? failed : done).push({
        range: new vscode.Range(range.end, range.end),
        renderOptions: { after: { contentText } },
      });
    }
    editor.setDecorations(this.#done, done);
    editor.setDecorations(this.#failed, failed);
  }
}

function textAfter(color: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    after: { margin: '0 0 0 3em', color: new vscode.ThemeColor(color) },
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
  });
}
