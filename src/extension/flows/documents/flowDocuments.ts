import * as vscode from 'vscode';
import { type Disposable, DisposableStore, Emitter } from '../../../core/processes/lifetime.ts';
import type { Logger } from '../../../core/log.ts';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { FlowFile } from '../../../flows/graph/graph.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import { canImport, looksLikeFlow } from './flowText.ts';

/** The reader of flows in its thread. */
export type RemoteReader = RemoteService<FlowWorkerService>['reader'];

/** The result of reading a document. */
export interface FlowReadout {
  readonly document: vscode.TextDocument;
  /** The version of the text that was read; the document may be newer. */
  readonly version: number;
  readonly file: FlowFile;
}

/** The path of a document for the reader, from which relative imports are resolved. */
export function readerPath({ uri }: vscode.TextDocument): string {
  return uri.scheme === 'file' ? uri.fsPath : `/${uri.scheme}${uri.path}`;
}

/**
 * The flows of the open documents. Reading happens in a thread. While one version is read, only the newest of the following
 * versions is kept, so fast typing never queues up work.
 */
export class FlowDocuments implements Disposable {
  readonly #reader: RemoteReader;
  readonly #log: Logger;
  readonly #readouts = new Map<string, FlowReadout>();
  readonly #reading = new Map<string, Promise<FlowReadout>>();
  /** The documents with a dependency that has changed since their reading started. */
  readonly #stale = new Set<string>();
  /** The paths whose texts were sent to the reader, which it does not read from disk. */
  readonly #sent = new Set<string>();
  readonly #read = new Emitter<FlowReadout>();
  readonly #closed = new Emitter<vscode.TextDocument>();
  readonly #disposables = new DisposableStore();
  readonly onDidRead = this.#read.event;
  readonly onDidClose = this.#closed.event;

  constructor(reader: RemoteReader, log: Logger) {
    this.#reader = reader;
    this.#log = log;
    const disposables = this.#disposables;
    disposables.add(vscode.workspace.onDidOpenTextDocument((document) => this.#noteOpen(document)));
    disposables.add(vscode.workspace.onDidChangeTextDocument(({ document }) => this.#noteChange(document)));
    disposables.add(vscode.workspace.onDidCloseTextDocument((document) => this.#noteClose(document)));
    const watcher = disposables.add(vscode.workspace.createFileSystemWatcher('**/*.{ts,mts,cts,js,mjs,cjs}'));
    for (const happened of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete]) {
      disposables.add(happened(({ fsPath }) => this.#readDependents(fsPath)));
    }
    for (const document of vscode.workspace.textDocuments) this.#noteOpen(document);
  }

  /** Whether no flow is open. */
  get isEmpty(): boolean {
    return this.#readouts.size === 0 && this.#sent.size === 0;
  }

  /** The last reading of a document; undefined before the first. */
  last(uri: vscode.Uri): FlowReadout | undefined {
    return this.#readouts.get(uri.toString());
  }

  /** The last readings of all documents. */
  all(): readonly FlowReadout[] {
    return [...this.#readouts.values()];
  }

  /** Reads the current text of a document. */
  async read(document: vscode.TextDocument): Promise<FlowReadout> {
    const key = document.uri.toString();
    const isCurrent = (readout: FlowReadout | undefined): readout is FlowReadout =>
      readout?.document === document &&
      readout.version === document.version &&
      !this.#reading.has(key) &&
      !this.#stale.has(key);
    for (;;) {
      const cachedReadout = this.#readouts.get(key);
      if (isCurrent(cachedReadout)) return cachedReadout;
      const readout = await (this.#reading.get(key) ?? this.#startReading(document));
      if (document.isClosed || isCurrent(readout)) return readout;
    }
  }

  dispose(): void {
    this.#disposables.dispose();
    this.#read.dispose();
    this.#closed.dispose();
  }

  #startReading(document: vscode.TextDocument): Promise<FlowReadout> {
    const key = document.uri.toString();
    this.#stale.delete(key);
    const reading = this.#readNow(document).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #readNow(document: vscode.TextDocument): Promise<FlowReadout> {
    const { version } = document;
    const path = readerPath(document);
    await this.#send(document);
    let file = await this.#reader.read(path);
    for (let unsaved = this.#unsent(file); unsaved.length > 0; unsaved = this.#unsent(file)) {
      await Promise.all(unsaved.map((one) => this.#send(one)));
      file = await this.#reader.read(path);
    }
    const readout = { document, version, file };
    if (!document.isClosed) this.#readouts.set(document.uri.toString(), readout);
    this.#read.fire(readout);
    return readout;
  }

  /** Sends the text of an open document to the reader, until it is closed. */
  async #send(document: vscode.TextDocument): Promise<void> {
    if (document.isClosed) return; // it would never be removed
    const path = readerPath(document);
    this.#sent.add(path);
    await this.#reader.setText(path, document.getText(), document.version);
  }

  /** The open, unsaved files of a flow that the reader has read from disk. */
  #unsent({ dependencies }: FlowFile): readonly vscode.TextDocument[] {
    return vscode.workspace.textDocuments.filter((document) => {
      const path = readerPath(document);
      return document.isDirty && !document.isClosed && dependencies.includes(path) && !this.#sent.has(path);
    });
  }

  #noteOpen(document: vscode.TextDocument): void {
    if (looksLikeFlow(document)) this.#readInBackground(document);
  }

  #noteChange(document: vscode.TextDocument): void {
    const isFlow = this.#readouts.has(document.uri.toString()) || looksLikeFlow(document);
    if (isFlow) this.#readInBackground(document);
    if (!canImport(document)) return;
    const path = readerPath(document);
    if (this.#dependents(path).length === 0 && (isFlow || !this.#sent.has(path))) return;
    this.#send(document).then(
      () => this.#readDependents(path),
      (error: unknown) => this.#log.error('a text could not be read', { error }),
    );
  }

  #noteClose(document: vscode.TextDocument): void {
    if (!canImport(document)) return;
    const key = document.uri.toString();
    this.#readouts.delete(key);
    this.#stale.delete(key);
    const path = readerPath(document);
    if (!this.#sent.delete(path)) return;
    this.#reader.closeText(path).then(
      () => this.#readDependents(path),
      () => {}, // the thread is gone, and the text with it
    );
    this.#closed.fire(document);
  }

  #dependents(path: string): readonly FlowReadout[] {
    return this.all().filter(({ file }) => file.dependencies.includes(path));
  }

  /** Reads the documents again that import a changed file. */
  #readDependents(path: string): void {
    for (const { document } of this.#dependents(path)) {
      this.#stale.add(document.uri.toString()); // a reading in progress may have read the old file
      this.#readInBackground(document);
    }
  }

  #readInBackground(document: vscode.TextDocument): void {
    this.read(document).catch((error: unknown) => this.#log.error('a flow could not be read', { error }));
  }
}
