import * as vscode from 'vscode';
import { messageOf } from '../../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import type { Logger } from '../../../core/log.ts';
import type { ExactGraph } from '../../../flows/graph/exactGraph.ts';
import type { FlowOperation } from '../../../flows/graph/flowOperation.ts';
import { mergeExact } from '../../../flows/graph/mergeExact.ts';
import type { GraphMessage, MovedNodes } from '../../../webview/canvas/state/messages.ts';
import type { FromCanvas } from '../../../webview/canvas/state/requests.ts';
import { CANVAS_TYPE } from '../../contributions/names.ts';
import { CanvasPanel } from './canvasPanel.ts';
import { exportCanvas } from './canvasExport.ts';
import { type FlowDocuments, type FlowReadout, readerPath, type RemoteReader } from '../documents/flowDocuments.ts';
import type { FlowRuns } from '../runs/flowRuns.ts';
import type { FlowStarter } from '../runs/flowStarter.ts';
import type { FoundFlow } from '../documents/flowTarget.ts';
import { applySourceEdits } from '../documents/sourceEdits.ts';
import { revealSource } from './revealing.ts';

export interface CanvasesDeps {
  readonly extension: vscode.Uri;
  readonly documents: FlowDocuments;
  readonly reader: RemoteReader;
  readonly runs: FlowRuns;
  readonly starter: FlowStarter;
  /** Positions of moved nodes. */
  readonly memory: vscode.Memento;
  readonly log: Logger;
  readonly report: (error: unknown) => void;
}

/** The canvases of this window, one for each document; each follows the source, the caret and the runs. */
export class Canvases implements Disposable {
  readonly #deps: CanvasesDeps;
  readonly #open = new Map<string, CanvasPanel>();
  readonly #disposables = new DisposableStore();

  constructor(deps: CanvasesDeps) {
    this.#deps = deps;
    const own = this.#disposables;
    own.add(deps.documents.onDidRead((readout) => this.#sendGraph(readout)));
    own.add(vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.#sendCursor(textEditor)));
    own.add(
      deps.runs.onNews((news) => {
        for (const canvas of this.#open.values()) {
          if (readerPath(canvas.document) !== news.file) continue;
          if (news.type === 'events') canvas.send({ type: 'runEvents', run: news.run.id, events: news.events });
          else if (news.type === 'begin') canvas.send({ type: 'run', run: news.run });
          if (news.type !== 'events') this.#sendRuns(canvas).catch(deps.report);
        }
      }),
    );
    own.add(
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        for (const readout of deps.documents.all()) this.#sendGraph(readout);
      }),
    );
  }

  /** Shows the canvas of a document beside it, with the flow, and the node in focus. */
  show(document: vscode.TextDocument, flow: string, node?: string): void {
    const known = this.#open.get(document.uri.toString());
    if (known !== undefined) {
      known.reveal();
      known.send({ type: 'focus', flow, node });
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      CANVAS_TYPE,
      titleOf(document),
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

  /** Restores the panel of a canvas that was open when the window was closed. */
  async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const uri = typeof state === 'object' && state !== null && 'document' in state ? state.document : undefined;
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(String(uri), true));
    this.#connect(new CanvasPanel(panel, document, this.#deps.extension));
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const canvas of this.#open.values()) canvas.dispose();
  }

  #connect(canvas: CanvasPanel): CanvasPanel {
    const key = canvas.document.uri.toString();
    this.#open.set(key, canvas);
    canvas.onDidDispose(() => {
      if (this.#open.get(key) === canvas) this.#open.delete(key);
    });
    canvas.onDidReceive((message) => {
      this.#answer(canvas, message).catch(this.#deps.report);
    });
    return canvas;
  }

  async #answer(canvas: CanvasPanel, message: FromCanvas): Promise<void> {
    const { starter, runs, documents } = this.#deps;
    const { document } = canvas;
    const file = readerPath(document);
    switch (message.type) {
      case 'ready':
        canvas.send({
          ...this.#graphMessage(await documents.read(await canvas.opened())),
          moved: this.#movedIn(document),
        });
        return this.#sendRuns(canvas);
      case 'reveal':
        return revealSource(message.range, message.isPreview, canvas.panel.viewColumn);
      case 'edit': {
        const refusal = await this.#edit(canvas, message).catch(messageOf);
        canvas.send({ type: 'editResult', id: message.id, refusal });
        return;
      }
      case 'hints':
        await this.#deps.memory.update(movedKey(document), {
          ...this.#movedIn(document),
          [message.flow]: message.moved,
        });
        return;
      case 'run':
      case 'debug':
        return starter.start({ uri: document.uri.toString(), flow: message.flow }, message.type);
      case 'submit':
        await starter.startJob({ uri: document.uri.toString(), flow: message.flow });
        return;
      case 'stop':
        runs.stop(message.run);
        return;
      case 'rerunFrom':
        return starter.rerunFrom(await canvas.opened(), message);
      case 'pinTest':
        return starter.pinTest(document, message.run);
      case 'openRun':
        return this.#openRun(canvas, message.run);
      case 'readShared': {
        const { run, step } = message;
        const shown = await runs.step(file, run, step);
        canvas.send({ type: 'shared', run, step, changes: shown?.changes ?? [], state: shown?.state });
        return;
      }
      case 'compare': {
        const { run, other } = message;
        canvas.send({ type: 'comparison', run, other, divergence: await runs.compare(file, run, other) });
        return;
      }
      case 'export':
        return exportCanvas(document, message);
      case 'undo':
      case 'redo':
        await vscode.window.showTextDocument(document.uri, { preserveFocus: false });
        await vscode.commands.executeCommand(message.type);
        canvas.panel.reveal();
        return;
      case 'manageTrust':
        await vscode.commands.executeCommand('workbench.trust.manage');
        return;
      case 'failure':
        this.#deps.log.error('the canvas failed', { message: message.message });
        return;
    }
  }

  /** Makes an edit of the source; returns why not if it is refused. */
  async #edit(
    canvas: CanvasPanel,
    { version, operation }: { readonly version: number; readonly operation: FlowOperation },
  ): Promise<string | undefined> {
    const document = await canvas.opened();
    await this.#deps.documents.read(document);
    if (document.version !== version) return 'The source has changed since. Check the new graph and try again.';
    const outcome = await this.#deps.reader.edit(readerPath(document), operation);
    if (!outcome.ok) return outcome.reason;
    if (document.version !== version) return 'The source has changed since. Check the new graph and try again.';
    if (!(await applySourceEdits(outcome.edits))) return 'VS Code rejected the edit. The file may be read-only.';
    const [first] = outcome.edits;
    if (first !== undefined)
      await revealSource({ ...first.range, end: first.range.start }, true, canvas.panel.viewColumn);
    return undefined;
  }

  #sendGraph(readout: FlowReadout): void {
    this.#open.get(readout.document.uri.toString())?.send(this.#graphMessage(readout));
  }

  #graphMessage({ document, version, file }: FlowReadout): GraphMessage {
    return { type: 'graph', document: document.uri.toString(), version, file, isTrusted: vscode.workspace.isTrusted };
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

  async #sendRuns(canvas: CanvasPanel): Promise<void> {
    const { document } = canvas;
    const flows = this.#deps.documents.last(document.uri)?.file.flows ?? [];
    canvas.send({ type: 'runs', runs: await this.#deps.runs.list(readerPath(document), flows) });
  }

  async #openRun(canvas: CanvasPanel, id: string): Promise<void> {
    const file = readerPath(canvas.document);
    const flows = this.#deps.documents.last(canvas.document.uri)?.file.flows ?? [];
    const run = (await this.#deps.runs.list(file, flows)).find((one) => one.id === id);
    if (run === undefined) return this.#sendRuns(canvas); // removed by another window
    canvas.send({ type: 'run', run });
    canvas.send({ type: 'runEvents', run: id, events: await this.#deps.runs.events(file, id) });
  }

  #movedIn(document: vscode.TextDocument): Readonly<Record<string, MovedNodes>> {
    return this.#deps.memory.get<Readonly<Record<string, MovedNodes>>>(movedKey(document)) ?? {};
  }
}

function movedKey({ uri }: vscode.TextDocument): string {
  return `canvas ${uri.toString()}`;
}

function titleOf({ uri }: vscode.TextDocument): string {
  return `Flow: ${uri.path.split('/').at(-1) ?? ''}`;
}
