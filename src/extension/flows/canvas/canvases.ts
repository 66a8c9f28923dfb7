import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import type { ExactGraph } from '../../../flows/graph/exactGraph.ts';
import { mergeExact } from '../../../flows/graph/mergeExact.ts';
import { CANVAS_TYPE } from '../../contributions/names.ts';
import { CanvasPanel } from './canvasPanel.ts';
import { CanvasRequests, type CanvasRequestsDeps, graphMessage } from './canvasRequests.ts';
import { distinctNames } from './distinctNames.ts';
import { type FlowReadout, readerPath } from '../documents/flowDocuments.ts';
import type { FoundFlow } from '../documents/flowTarget.ts';
import { openSource, renamedTo } from '../documents/openSource.ts';

interface CanvasesDeps extends CanvasRequestsDeps {
  readonly extension: vscode.Uri;
  readonly report: (error: unknown) => void;
}

/** The canvases of this window, one for each document; each follows the source, the caret and the runs. */
export class Canvases implements Disposable {
  readonly #deps: CanvasesDeps;
  readonly #requests: CanvasRequests;
  readonly #open = new Map<string, CanvasPanel>();
  readonly #disposables = new DisposableStore();

  constructor(deps: CanvasesDeps) {
    this.#deps = deps;
    this.#requests = new CanvasRequests(deps);
    const disposables = this.#disposables;
    disposables.add(deps.documents.onDidRead((readout) => this.#sendGraph(readout)));
    disposables.add(vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.#sendCursor(textEditor)));
    disposables.add(
      deps.runs.onNews((news) => {
        for (const canvas of this.#open.values()) {
          if (readerPath(canvas.document) !== news.file) continue;
          if (news.type === 'events') canvas.send({ type: 'runEvents', run: news.run.id, events: news.events });
          else if (news.type === 'begin') canvas.send({ type: 'run', run: news.run });
          if (news.type !== 'events') this.#requests.sendRuns(canvas).catch(deps.report);
        }
      }),
    );
    disposables.add(
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) for (const canvas of this.#open.values()) this.#refreshRuns(canvas);
      }),
    );
    disposables.add(
      vscode.workspace.onDidRenameFiles(({ files }) => {
        this.#followRenames(files).catch(deps.report);
      }),
    );
    disposables.add(
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        for (const readout of deps.documents.all()) this.#sendGraph(readout);
      }),
    );
  }

  /** Shows the canvas of a document beside it, with the flow, and the node in focus. */
  show(document: vscode.TextDocument, flow: string, node?: string): void {
    const openCanvas = this.#open.get(document.uri.toString());
    if (openCanvas !== undefined) {
      openCanvas.reveal();
      openCanvas.send({ type: 'focus', flow, node });
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      CANVAS_TYPE,
      titleOf(document.uri.path.split('/').at(-1) ?? ''),
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false },
      { retainContextWhenHidden: true },
    );
    this.#connect(new CanvasPanel(panel, document, this.#deps.extension)).send({ type: 'focus', flow, node });
  }

  /** Shows graphs that were found by running the file, until its text changes. */
  showExact({ document, version, file, flow }: FoundFlow, exact: readonly ExactGraph[]): void {
    this.show(document, flow.id);
    this.#sendGraph({ document, version, file: mergeExact(file, exact) });
  }

  /** Restores the panel of a canvas that was open when the window was closed, or closes it if its file no longer exists. */
  async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const uri = typeof state === 'object' && state !== null && 'document' in state ? state.document : undefined;
    const document = await openSource(vscode.Uri.parse(String(uri), true)).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'missing') return undefined;
      throw error;
    });
    if (document === undefined)
      panel.dispose(); // without taking the focus, because the user may be elsewhere when a window starts
    else this.#connect(new CanvasPanel(panel, document, this.#deps.extension));
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const canvas of this.#open.values()) canvas.dispose();
  }

  #connect(canvas: CanvasPanel): CanvasPanel {
    this.#open.set(canvas.document.uri.toString(), canvas);
    this.#showTitles();
    canvas.onDidDispose(() => {
      this.#forget(canvas);
      this.#showTitles();
    });
    canvas.onDidReceive((message) => {
      this.#requests.handle(canvas, message).catch(this.#deps.report);
    });
    // Ends with the panel.
    canvas.panel.onDidChangeViewState(() => this.#refreshRuns(canvas));
    return canvas;
  }

  /** Forgets the canvas as that of its document, unless another one has taken its place. */
  #forget(canvas: CanvasPanel): void {
    const key = canvas.document.uri.toString();
    if (this.#open.get(key) === canvas) this.#open.delete(key);
  }

  /** Keeps the canvases and the runs of files that were renamed or moved in this window. */
  async #followRenames(files: vscode.FileRenameEvent['files']): Promise<void> {
    const canvases = new Set(this.#open.values());
    await this.#deps.runs.followRenames(files).catch(this.#deps.report);
    for (const canvas of canvases) {
      const uri = renamedTo(canvas.document.uri, files);
      if (uri === undefined) continue;
      const document = await openSource(uri);
      this.#open.get(uri.toString())?.panel.dispose(); // of a file that was overwritten
      this.#forget(canvas);
      this.#open.set(uri.toString(), canvas);
      await this.#requests.rename(canvas, document);
    }
    this.#showTitles();
  }

  /** Shows the folders of files with the same name, as VS Code does in the tabs of editors. */
  #showTitles(): void {
    const canvases = [...this.#open.values()];
    const names = distinctNames(canvases.map(({ document }) => document.uri.path));
    for (const [index, { panel }] of canvases.entries()) {
      const title = titleOf(names[index] ?? '');
      if (panel.title !== title) panel.title = title;
    }
  }

  /** Lists the runs again: the command line and other windows add to them too. */
  #refreshRuns(canvas: CanvasPanel): void {
    if (canvas.panel.visible) this.#requests.sendRuns(canvas).catch(this.#deps.report);
  }

  #sendGraph(readout: FlowReadout): void {
    this.#open.get(readout.document.uri.toString())?.send(graphMessage(readout));
  }

  #sendCursor({ document, selection }: vscode.TextEditor): void {
    const file = readerPath(document);
    const offset = document.offsetAt(selection.active);
    for (const canvas of this.#open.values()) {
      const readout = this.#deps.documents.last(canvas.document.uri);
      if (readerPath(canvas.document) === file || readout?.file.dependencies.includes(file) === true) {
        canvas.send({ type: 'cursor', file, offset });
      }
    }
  }
}

function titleOf(name: string): string {
  return l10n.t('Flow: {0}', name);
}
