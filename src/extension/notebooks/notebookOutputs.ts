import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { type Disposable, Emitter } from '../../core/processes/lifetime.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import { type LiveCell, LiveCells } from '../../jobs/notebooks/liveCells.ts';
import { matchCells } from '../../workspace/notebooks/matchCells.ts';
import { identityOf } from './cellLocation.ts';
import { liveCellData } from './cellOutputs.ts';

/** What a cell of an open notebook is in a job. */
export interface CellRun {
  readonly record: JobRecord;
  readonly cell: LiveCell;
  /** Whether the source was edited since the job was submitted. */
  readonly isOlder: boolean;
  /** Whether its outputs are not in it yet, because the user types in it. */
  readonly isWaiting: boolean;
}

// Replacing a cell costs a layout of the notebook.
const PAUSE_MS = 300;

/**
 * Puts the outputs of a running job into the open notebook that it runs, as they arrive. Cells are replaced, because only the selected
 * kernel may write outputs otherwise, and that is the user's choice. The cell in which the user types is replaced once they leave it.
 */
export class NotebookOutputs implements Disposable {
  readonly record: JobRecord;
  readonly #document: vscode.NotebookDocument;
  readonly #cells = new LiveCells();
  readonly #changed = new Emitter<void>();
  readonly #subscriptions: vscode.Disposable;
  /** The cell in whose editor the user clicked or typed. A cell that is only selected has the active editor too. */
  #typedIn: vscode.TextDocument | undefined;
  /** What was put into each cell. */
  readonly #written = new WeakMap<vscode.NotebookCell, LiveCell>();
  #runs: ReadonlyMap<vscode.NotebookCell, CellRun> = new Map();
  #isDue = false;
  readonly onDidChange = this.#changed.event;

  constructor(record: JobRecord, document: vscode.NotebookDocument) {
    this.record = record;
    this.#document = document;
    const { window, workspace } = vscode;
    this.#subscriptions = vscode.Disposable.from(
      workspace.onDidChangeNotebookDocument(({ notebook }) => {
        if (notebook === document) this.#match();
      }),
      workspace.onDidChangeTextDocument((change) => {
        if (change.document === window.activeTextEditor?.document) this.#typedIn = change.document;
      }),
      window.onDidChangeTextEditorSelection(({ kind, textEditor }) => {
        if (kind !== undefined) this.#typedIn = textEditor.document;
      }),
      window.onDidChangeActiveTextEditor((editor) => {
        if (editor?.document !== this.#typedIn) this.#typedIn = undefined;
      }),
    );
  }

  runOf(cell: vscode.NotebookCell): CellRun | undefined {
    return this.#runs.get(cell);
  }

  /** Returns when the job has ended and its outputs are in the notebook. @throws the signal's reason on abort. */
  async follow(home: string, signal: AbortSignal): Promise<void> {
    let hasEnded = false;
    const reading = (async () => {
      for await (const event of new EventSpool(home, this.record.id).follow({ signal }))
        if (this.#cells.push(event)) this.#isDue = true;
    })().finally(() => (hasEnded = true));
    for (;;) {
      const isLast = hasEnded;
      if (this.#isDue) {
        this.#isDue = false;
        this.#match();
        this.#isDue = !(await this.#write()) || this.#isDue;
      }
      if (isLast && !this.#isDue) return reading;
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }

  #match(): void {
    const cells = this.#document.getCells();
    const live = this.#cells.all;
    const places = matchCells(
      live.map(({ identity }) => identity),
      cells.map(identityOf),
    );
    const runs = new Map<vscode.NotebookCell, CellRun>();
    for (const [index, cell] of live.entries()) {
      const found = cells[places[index] ?? -1];
      if (found === undefined) continue;
      const isOlder = identityOf(found).source !== cell.identity.source;
      const isWaiting = this.#isMissing(found, cell) && this.#isTypedIn(found);
      runs.set(found, { record: this.record, cell, isOlder, isWaiting });
    }
    this.#runs = runs;
    this.#changed.fire();
  }

  /** Returns whether nothing is left to do. */
  async #write(): Promise<boolean> {
    const missing = [...this.#runs].filter(([cell, { cell: live }]) => this.#isMissing(cell, live));
    const ready = missing.filter(([cell]) => !this.#isTypedIn(cell));
    if (this.#document.isClosed || ready.length === 0) return missing.length === 0;
    const edit = new vscode.WorkspaceEdit();
    const edits = ready.map(([cell, { cell: live, isOlder }]) =>
      vscode.NotebookEdit.replaceCells(new vscode.NotebookRange(cell.index, cell.index + 1), [
        liveCellData(cell, live, isOlder),
      ]),
    );
    const indexes = ready.map(([cell]) => cell.index);
    edit.set(this.#document.uri, edits);
    // False if the user changed the notebook in the meantime: then the cells are looked for again.
    if (!(await vscode.workspace.applyEdit(edit))) return false;
    for (const [index, [, { cell }]] of ready.entries())
      this.#written.set(this.#document.cellAt(indexes[index] ?? 0), cell);
    this.#match();
    return missing.length === ready.length;
  }

  #isMissing(cell: vscode.NotebookCell, live: LiveCell): boolean {
    const written = this.#written.get(cell);
    return live.outputs !== undefined && (written?.outputs !== live.outputs || written.state !== live.state);
  }

  /** Replacing the cell would take the focus from it, and the next keys would be commands. */
  #isTypedIn({ document }: vscode.NotebookCell): boolean {
    return document === this.#typedIn && document === vscode.window.activeTextEditor?.document;
  }
}
