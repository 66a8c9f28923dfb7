import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { join } from 'node:path';
import type { WindowParts } from '../contributions/parts.ts';
import { assertNever } from '../../core/errors.ts';
import { type Disposable, DisposableStore, Emitter } from '../../core/processes/lifetime.ts';
import { isActive, type JobRecord } from '../../jobs/ledger/record.ts';
import { startedNotebook } from '../../jobs/selection/script.ts';
import type { LiveState } from '../../jobs/notebooks/liveCells.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import { label } from '../ui/labels.ts';
import { hostLabel } from '../ui/words.ts';
import { hasOlderOutput } from './cellOutputs.ts';
import { NotebookOutputs } from './notebookOutputs.ts';

interface OpenNotebookDeps extends Pick<WindowParts, 'home' | 'parts'> {
  readonly store: Pick<JobStore, 'records' | 'get' | 'onDidChange'>;
  readonly memory: vscode.Memento;
}

interface Shown {
  readonly outputs: NotebookOutputs;
  readonly end: AbortController;
}

const NOTEBOOK_TYPE = 'jupyter-notebook';
/** In the memory of the workspace: jobs whose outputs were arriving, so that the next window brings the rest. */
const UNFINISHED = 'notebooks.unfinished';
const MOST_UNFINISHED = 50;

/**
 * Shows the outputs of running jobs in the open notebooks that they run, and in each cell where it runs and whether its output is older
 * than its source. Of several jobs of a notebook, the newest is shown; those of a sweep are not, because they share one.
 */
export class OpenNotebooks implements Disposable, vscode.NotebookCellStatusBarItemProvider {
  readonly #deps: OpenNotebookDeps;
  readonly #disposables = new DisposableStore();
  readonly #shown = new Map<vscode.NotebookDocument, Shown>();
  readonly #changed = new Emitter<void>();
  readonly onDidChangeCellStatusBarItems: vscode.Event<void> = (listener, context) =>
    this.#changed.event(listener.bind(context));

  constructor(deps: OpenNotebookDeps) {
    this.#deps = deps;
    const { workspace, notebooks } = vscode;
    this.#disposables.add(notebooks.registerNotebookCellStatusBarItemProvider(NOTEBOOK_TYPE, this));
    this.#disposables.add(deps.store.onDidChange(() => this.#update()));
    this.#disposables.add(workspace.onDidOpenNotebookDocument(() => this.#update()));
    this.#disposables.add(workspace.onDidCloseNotebookDocument((document) => this.#hide(document)));
    this.#update();
  }

  provideCellStatusBarItems(cell: vscode.NotebookCell): vscode.NotebookCellStatusBarItem[] {
    const run = this.#shown.get(cell.notebook)?.outputs.runOf(cell);
    const items: vscode.NotebookCellStatusBarItem[] = [];
    const add = (text: string, tooltip?: string, command?: vscode.Command): void => {
      const item = new vscode.NotebookCellStatusBarItem(text, vscode.NotebookCellStatusBarAlignment.Left);
      item.tooltip = tooltip;
      item.command = command;
      items.push(item);
    };
    if (run !== undefined) {
      const title = l10n.t('Show Log');
      const text = stateText(run.cell.state, hostLabel(run.record.host));
      const waiting = run.isWaiting ? ` · ${l10n.t('output appears when you leave the cell')}` : '';
      add(text + waiting, title, { title, command: 'farwharf.showLog', arguments: [{ id: run.record.id }] });
    }
    if (hasOlderOutput(cell))
      add(
        `$(history) ${l10n.t('older output')}`,
        l10n.t('A job ran an earlier version of this cell. Run the cell again for its current output.'),
      );
    return items;
  }

  dispose(): void {
    for (const document of this.#shown.keys()) this.#hide(document);
    this.#disposables.dispose();
    this.#changed.dispose();
  }

  #update(): void {
    const { memory, store } = this.#deps;
    const unfinished = memory.get<readonly string[]>(UNFINISHED, []);
    const jobs = store.records.filter(
      (record) => record.sweep === null && (isActive(record) || unfinished.includes(record.id)),
    );
    for (const document of vscode.workspace.notebookDocuments) {
      if (document.notebookType !== NOTEBOOK_TYPE || document.uri.scheme !== 'file') continue;
      const record = jobs.find((job) => notebookFile(job) === document.uri.fsPath);
      const shown = this.#shown.get(document);
      if (record === undefined || shown?.outputs.record.id === record.id) continue;
      this.#hide(document);
      this.#deps.parts.run('notebook', this.#show(document, record));
    }
  }

  async #show(document: vscode.NotebookDocument, record: JobRecord): Promise<void> {
    const end = new AbortController();
    const outputs = new NotebookOutputs(record, document);
    outputs.onDidChange(() => this.#changed.fire());
    this.#shown.set(document, { outputs, end });
    await this.#remember(record.id, true);
    await outputs.follow(this.#deps.home, end.signal);
    await this.#remember(record.id, false);
  }

  #hide(document: vscode.NotebookDocument): void {
    const shown = this.#shown.get(document);
    this.#shown.delete(document);
    shown?.end.abort();
    shown?.outputs.dispose();
  }

  async #remember(id: string, isUnfinished: boolean): Promise<void> {
    const { memory } = this.#deps;
    const others = memory.get<readonly string[]>(UNFINISHED, []).filter((other) => other !== id);
    await memory.update(UNFINISHED, isUnfinished ? [...others, id].slice(-MOST_UNFINISHED) : others);
  }
}

/** The absolute path of the notebook that a job runs; undefined for other jobs. */
function notebookFile(record: JobRecord): string | undefined {
  const path = startedNotebook(record);
  return path === undefined ? undefined : join(record.folder, path);
}

function stateText(state: LiveState, host: string): string {
  switch (state) {
    case 'queued':
      return label`$(clock) ${l10n.t('queued on {0}', host)}`;
    case 'running':
      return label`$(sync~spin) ${l10n.t('running on {0}', host)}`;
    case 'done': // VS Code shows the icons of these two
      return label`${l10n.t('ran on {0}', host)}`;
    case 'failed':
      return label`${l10n.t('failed on {0}', host)}`;
    case 'stopped':
      return label`$(circle-slash) ${l10n.t('stopped on {0}', host)}`;
    default:
      return assertNever(state);
  }
}
