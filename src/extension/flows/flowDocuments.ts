import * as vscode from 'vscode';
import { type Disposable, DisposableStore, Emitter } from '../../core/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import type { RemoteService } from '../../core/workerRpc.ts';
import type { FlowFile } from '../../flows/graph.ts';
import type { FlowWorkerService } from '../flowWorker.ts';
import { canImport, looksLikeFlow } from './flowText.ts';

/** What a document's text was read as. */
export interface FlowReadout {
  readonly document: vscode.TextDocument;
  /** The version of the text that was read; the document may have a newer one by now. */
  readonly version: number;
  readonly file: FlowFile;
}

/** The name of a document for the reader: its path, so that relative imports lead to other files. */
export function readerPath({ uri }: vscode.TextDocument): string {
  return uri.scheme === 'file' ? uri.fsPath : `/${uri.scheme}${uri.path}`;
}

/**
 * The flows of the open documents. Reading happens in a thread; of the versions that come while one is read only the last is read
 * next, so fast typing never queues up work.
 */
export class FlowDocuments implements Disposable {
  readonly #reader: RemoteService<FlowWorkerService>['reader'];
  readonly #log: Logger;
  readonly #readouts = new Map<string, FlowReadout>();
  readonly #reading = new Map<string, Promise<FlowReadout>>();
  readonly #read = new Emitter<FlowReadout>();
  readonly #closed = new Emitter<vscode.TextDocument>();
  readonly #disposables = new DisposableStore();
  readonly onDidRead = this.#read.event;
  readonly onDidClose = this.#closed.event;

  constructor(reader: RemoteService<FlowWorkerService>['reader'], log: Logger) {
    this.#reader = reader;
    this.#log = log;
    const own = this.#disposables;
    own.add(vscode.workspace.onDidOpenTextDocument((document) => this.#noteOpen(document)));
    own.add(vscode.workspace.onDidChangeTextDocument(({ document }) => this.#noteChange(document)));
    own.add(vscode.workspace.onDidCloseTextDocument((document) => this.#noteClose(document)));
    const watcher = own.add(vscode.workspace.createFileSystemWatcher('**/*.{ts,mts,cts,js,mjs,cjs}'));
    for (const happened of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete]) {
      own.add(happened(({ fsPath }) => this.#readDependents(fsPath)));
    }
    for (const document of vscode.workspace.textDocuments) this.#noteOpen(document);
  }

  /** What a document was last read as; undefined before the first time. */
  last(uri: vscode.Uri): FlowReadout | undefined {
    return this.#readouts.get(uri.toString());
  }

  /** The documents that have flows, as they were read last. */
  all(): readonly FlowReadout[] {
    return [...this.#readouts.values()];
  }

  /** Reads a document as it is now. */
  async read(document: vscode.TextDocument): Promise<FlowReadout> {
    const key = document.uri.toString();
    for (;;) {
      const known = this.#readouts.get(key);
      if (known?.version === document.version) return known;
      const readout = await (this.#reading.get(key) ?? this.#startReading(document));
      if (readout.version === document.version || document.isClosed) return readout;
    }
  }

  dispose(): void {
    this.#disposables.dispose();
    this.#read.dispose();
    this.#closed.dispose();
  }

  #startReading(document: vscode.TextDocument): Promise<FlowReadout> {
    const key = document.uri.toString();
    const reading = this.#readNow(document).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #readNow(document: vscode.TextDocument): Promise<FlowReadout> {
    const { version } = document;
    const path = readerPath(document);
    await this.#reader.setText(path, document.getText(), version);
    const readout = { document, version, file: await this.#reader.read(path) };
    if (!document.isClosed) this.#readouts.set(document.uri.toString(), readout);
    this.#read.fire(readout);
    return readout;
  }

  #noteOpen(document: vscode.TextDocument): void {
    if (looksLikeFlow(document)) this.#readInBackground(document);
  }

  #noteChange(document: vscode.TextDocument): void {
    const isKnown = this.#readouts.has(document.uri.toString());
    if (isKnown || looksLikeFlow(document)) this.#readInBackground(document);
    if (!canImport(document)) return;
    const path = readerPath(document);
    if (this.#dependents(path).length === 0) return;
    this.#reader.setText(path, document.getText(), document.version).then(
      () => this.#readDependents(path),
      (error: unknown) => this.#log.error('a text could not be read', { error }),
    );
  }

  #noteClose(document: vscode.TextDocument): void {
    if (!canImport(document)) return;
    const isFlow = this.#readouts.delete(document.uri.toString());
    const path = readerPath(document);
    if (!isFlow && this.#dependents(path).length === 0) return;
    void this.#reader.closeText(path).catch(() => {}); // its thread is gone, and with it the text
    if (isFlow) this.#closed.fire(document);
  }

  #dependents(path: string): readonly FlowReadout[] {
    return this.all().filter(({ file }) => file.dependencies.includes(path));
  }

  /** Reads again what imports a file that has changed. */
  #readDependents(path: string): void {
    for (const { document } of this.#dependents(path)) {
      this.#readouts.delete(document.uri.toString());
      this.#readInBackground(document);
    }
  }

  #readInBackground(document: vscode.TextDocument): void {
    this.read(document).catch((error: unknown) => this.#log.error('a flow could not be read', { error }));
  }
}
