import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { isAbort, messageOf } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { FlowOperation } from '../../../flows/graph/flowOperation.ts';
import type { GraphMessage, MovedNodes } from '../../../webview/canvas/state/canvasMessages.ts';
import type { FromCanvas } from '../../../webview/canvas/state/requests.ts';
import type { CanvasPanel } from './canvasPanel.ts';
import { compareVersions } from './versionPick.ts';
import { exportCanvas } from './canvasExport.ts';
import { type FlowDocuments, type FlowReadout, readerPath, type RemoteReader } from '../documents/flowDocuments.ts';
import type { FlowRuns } from '../runs/flowRuns.ts';
import type { FlowStarter } from '../runs/flowStarter.ts';
import type { VisitRunner } from '../runs/visitRunner.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import { applySourceEdits, uriOf } from '../documents/sourceEdits.ts';
import type { SourceRange } from '../../../flows/graph/graph.ts';
import { toRange } from '../documents/ranges.ts';

export interface CanvasRequestsDeps {
  readonly documents: FlowDocuments;
  readonly reader: RemoteReader;
  readonly runs: FlowRuns;
  readonly starter: FlowStarter;
  readonly visits: VisitRunner;
  readonly versions: RemoteService<FlowWorkerService>['versions'];
  /** Positions of moved nodes. */
  readonly memory: vscode.Memento;
  readonly log: Logger;
}

/** Does what the pages of canvases ask for. */
export class CanvasRequests {
  readonly #deps: CanvasRequestsDeps;

  constructor(deps: CanvasRequestsDeps) {
    this.#deps = deps;
  }

  async handle(canvas: CanvasPanel, message: FromCanvas): Promise<void> {
    const { starter, runs, documents } = this.#deps;
    const { document } = canvas;
    const file = readerPath(document);
    switch (message.type) {
      case 'ready':
        canvas.send({
          ...graphMessage(await documents.read(await canvas.opened())),
          moved: this.#movedIn(document),
        });
        return this.sendRuns(canvas);
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
      case 'compareVersions': {
        const compared = await compareVersions(this.#deps.versions, document.uri, file);
        if (compared !== undefined) canvas.send({ type: 'versions', flow: message.flow, ...compared });
        return;
      }
      case 'stop':
        runs.stop(message.run);
        return;
      case 'answer':
        return this.#answer(canvas, message);
      case 'readInput':
        return this.#readInput(canvas, message);
      case 'runVisit':
        return this.#runVisit(canvas, message);
      case 'rerunFrom':
        return starter.rerunFrom(await canvas.opened(), message);
      case 'pinTest':
        return starter.pinTest(document, message.run);
      case 'openRun':
        return this.#openRun(canvas, message.run);
      case 'readShared': {
        const { run, step } = message;
        const stepReport = await runs.reader.step(file, run, step);
        canvas.send({ type: 'shared', run, step, changes: stepReport?.changes ?? [], state: stepReport?.state });
        return;
      }
      case 'compare': {
        const { run, other } = message;
        canvas.send({ type: 'comparison', run, other, ...(await runs.reader.compare(file, other, run)) });
        return;
      }
      case 'export':
        return exportCanvas(document, message);
      case 'save':
        await (await canvas.opened()).save();
        return;
      case 'undo':
      case 'redo':
        // VS Code undoes in the editor that has the focus.
        await vscode.window.showTextDocument(document.uri, {
          viewColumn: sourceColumn(document.uri, canvas.panel.viewColumn),
          preserveFocus: false,
        });
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

  /** Shows the document under which the source of a canvas continues, with its moved nodes, after a rename. */
  async rename(canvas: CanvasPanel, document: vscode.TextDocument): Promise<void> {
    await this.#deps.memory.update(movedKey(document), this.#movedIn(canvas.document));
    canvas.document = document;
    await this.handle(canvas, { type: 'ready' });
  }

  async sendRuns(canvas: CanvasPanel): Promise<void> {
    const { document } = canvas;
    const flows = this.#deps.documents.last(document.uri)?.file.flows ?? [];
    canvas.send({ type: 'runs', runs: await this.#deps.runs.reader.list(readerPath(document), flows) });
  }

  /** Makes an edit of the source; returns why not if it is refused. */
  async #edit(
    canvas: CanvasPanel,
    { version, operation }: { readonly version: number; readonly operation: FlowOperation },
  ): Promise<string | undefined> {
    const document = await canvas.opened();
    await this.#deps.documents.read(document);
    if (document.version !== version) return l10n.t('The source has changed since. Check the new graph and try again.');
    const outcome = await this.#deps.reader.edit(readerPath(document), operation);
    if (!outcome.ok) return outcome.reason;
    if (document.version !== version) return l10n.t('The source has changed since. Check the new graph and try again.');
    if (!(await applySourceEdits(outcome.edits)))
      return l10n.t('VS Code rejected the edit. The file may be read-only.');
    const [first] = outcome.edits;
    if (first !== undefined)
      await revealSource({ ...first.range, end: first.range.start }, true, canvas.panel.viewColumn);
    return undefined;
  }

  /** Continues a run that waits. The canvas shows why an answer is refused. */
  async #answer(canvas: CanvasPanel, { run, input }: Extract<FromCanvas, { type: 'answer' }>): Promise<void> {
    const { starter } = this.#deps;
    const refusal = await starter.answer(await canvas.opened(), { run, input }).then(() => undefined, messageOf);
    canvas.send({ type: 'answerResult', run, refusal });
    // Another window may have answered.
    await this.sendRuns(canvas);
  }

  async #readInput(canvas: CanvasPanel, message: Extract<FromCanvas, { type: 'readInput' }>): Promise<void> {
    const { run, path, visit } = message;
    const read = await this.#deps.visits.input(readerPath(canvas.document), message).then(
      (state) => ({
        state,
        refusal: state === undefined ? l10n.t('The state is too large to be edited here.') : undefined,
      }),
      (error: unknown) => ({ state: undefined, refusal: messageOf(error) }),
    );
    canvas.send({ type: 'visitInput', run, path, visit, ...read });
  }

  /** Runs one node again. The canvas shows why it could not. */
  async #runVisit(canvas: CanvasPanel, message: Extract<FromCanvas, { type: 'runVisit' }>): Promise<void> {
    const { run, path, visit, state } = message;
    const ran = await this.#deps.starter.runVisit(await canvas.opened(), { run, path, visit, state }).then(
      (runs) => ({ runs, refusal: undefined }),
      (error: unknown) => (isAbort(error) ? undefined : { runs: undefined, refusal: messageOf(error) }),
    );
    // A stopped visit was replaced by another one, whose result the canvas waits for.
    if (ran !== undefined) canvas.send({ type: 'visitRuns', run, path, visit, ...ran });
  }

  async #openRun(canvas: CanvasPanel, id: string): Promise<void> {
    const { runs, documents } = this.#deps;
    const file = readerPath(canvas.document);
    const flows = documents.last(canvas.document.uri)?.file.flows ?? [];
    const run = (await runs.reader.list(file, flows)).find((one) => one.id === id);
    if (run === undefined) return this.sendRuns(canvas); // removed by another window
    canvas.send({ type: 'run', run });
    canvas.send({ type: 'runEvents', run: id, events: await runs.reader.events(file, id) });
  }

  #movedIn(document: vscode.TextDocument): Readonly<Record<string, MovedNodes>> {
    return this.#deps.memory.get<Readonly<Record<string, MovedNodes>>>(movedKey(document)) ?? {};
  }
}

/** The graph of a document for its canvas. */
export function graphMessage({ document, version, file }: FlowReadout): GraphMessage {
  return { type: 'graph', document: document.uri.toString(), version, file, isTrusted: vscode.workspace.isTrusted };
}

function movedKey({ uri }: vscode.TextDocument): string {
  return `canvas ${uri.toString()}`;
}

/**
 * Shows a range of a flow's source beside the canvas, never over it: in an editor with the file, else in the first column.
 *
 * @param canvas the column of the canvas.
 */
async function revealSource(
  range: SourceRange,
  isPreview: boolean,
  canvas: vscode.ViewColumn | undefined,
): Promise<void> {
  const uri = uriOf(range.file);
  const selection = toRange(range);
  const editor = await vscode.window.showTextDocument(uri, {
    viewColumn: sourceColumn(uri, canvas),
    preserveFocus: isPreview,
    preview: isPreview,
    selection: new vscode.Range(selection.start, isPreview ? selection.start : selection.end),
  });
  editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** The column for a flow's source: that of an editor with the file, else one beside the canvas. */
function sourceColumn(uri: vscode.Uri, canvas: vscode.ViewColumn | undefined): vscode.ViewColumn {
  const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  return editor?.viewColumn ?? (canvas === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One);
}
