import * as vscode from 'vscode';
import { type Disposable, DisposableStore, Emitter } from '../../../core/processes/lifetime.ts';
import type { ToCanvas } from '../../../webview/canvas/state/canvasMessages.ts';
import { type FromCanvas, readCanvasRequest } from '../../../webview/canvas/state/requests.ts';
import { pageHtml } from '../../ui/pageHtml.ts';
import { openSource } from '../documents/openSource.ts';

/** The panel of one document's canvas. Queues messages until its page is ready. */
export class CanvasPanel implements Disposable {
  /** Changes when the file is renamed. */
  document: vscode.TextDocument;
  readonly panel: vscode.WebviewPanel;
  readonly #received = new Emitter<FromCanvas>();
  readonly #disposed = new Emitter<void>();
  readonly #disposables = new DisposableStore();
  readonly onDidReceive = this.#received.event;
  readonly onDidDispose = this.#disposed.event;
  #isReady = false;
  #isDisposed = false;
  #early: ToCanvas[] = [];

  constructor(panel: vscode.WebviewPanel, document: vscode.TextDocument, extension: vscode.Uri) {
    this.panel = panel;
    this.document = document;
    const { webview } = panel;
    const files = vscode.Uri.joinPath(extension, 'dist', 'webview');
    webview.options = { enableScripts: true, localResourceRoots: [files] };
    const disposables = this.#disposables;
    disposables.add(webview.onDidReceiveMessage((message: unknown) => this.#receive(readCanvasRequest(message))));
    disposables.add(
      panel.onDidDispose(() => {
        this.#disposed.fire();
        this.dispose();
      }),
    );
    webview.html = pageHtml(webview, files, { title: 'Flow', name: 'canvas' });
  }

  /** Does nothing once the panel is closed, because a reply may come after that. */
  send(message: ToCanvas): void {
    if (this.#isDisposed) return;
    if (this.#isReady) void this.panel.webview.postMessage(message);
    else this.#early.push(message);
  }

  /** The currently open document. The document that the canvas was created for keeps its last text after it was closed. */
  async opened(): Promise<vscode.TextDocument> {
    return this.document.isClosed ? openSource(this.document.uri) : this.document;
  }

  reveal(): void {
    this.panel.reveal(undefined, true);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#disposables.dispose();
    this.#received.dispose();
    this.#disposed.dispose();
  }

  #receive(message: FromCanvas | undefined): void {
    if (message === undefined) return;
    this.#received.fire(message);
    if (message.type !== 'ready') return;
    // A page that was recreated after it was hidden sends `ready` again and needs the whole state.
    this.#isReady = true;
    for (const early of this.#early.splice(0)) this.send(early);
  }
}
