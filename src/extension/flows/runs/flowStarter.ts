import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import { requireTrust } from '../../workspace/folders.ts';
import { choiceOf } from '../../../flows/graph/flowChoice.ts';
import { neededKeys } from '../../../flows/graph/neededKeys.ts';
import type { RerunStep } from '../../../flows/run/history/rerun.ts';
import type { VisitRuns } from '../../../flows/run/history/nodeVisit.ts';
import { CANVAS_TYPE } from '../../contributions/names.ts';
import type { FlowRuntime } from '../../../flows/run/protocol/runRequest.ts';
import type { JobStore } from '../../jobs/store/jobStore.ts';
import type { FlowDocuments } from '../documents/flowDocuments.ts';
import { debugWith } from './flowRuntime.ts';
import { askInputs } from './flowInputs.ts';
import type { FlowRunEnd, FlowRunOptions, FlowRuns } from './flowRuns.ts';
import type { FlowTests } from './flowTests.ts';
import type { JobAnswers, SubmitFlow } from './jobAnswers.ts';
import type { VisitRunner } from './visitRunner.ts';
import { findFlow, type FlowTarget, type FoundFlow } from '../documents/flowTarget.ts';
import { showError, showInformation, showWarning } from '../../ui/show.ts';
import { label } from '../../ui/labels.ts';

interface FlowStarterDeps {
  readonly flowRuntime: FlowRuntime;
  readonly store: Pick<JobStore, 'get'>;
  readonly submit: SubmitFlow;
  readonly documents: FlowDocuments;
  readonly runs: FlowRuns;
  readonly tests: FlowTests;
  readonly jobAnswers: JobAnswers;
  readonly visits: VisitRunner;
  /** The inputs of the last runs. */
  readonly memory: vscode.Memento;
}

type HowToRun = 'run' | 'debug';

/** Starts runs of flows for commands, code lenses and canvases. */
export class FlowStarter implements Disposable {
  readonly #deps: FlowStarterDeps;
  readonly #stopButton = vscode.window.createStatusBarItem('farwharf.flowRun', vscode.StatusBarAlignment.Left);
  readonly #following: Disposable;

  constructor(deps: FlowStarterDeps) {
    this.#deps = deps;
    this.#stopButton.name = l10n.t('Farwharf: running flow');
    this.#stopButton.command = 'farwharf.stopFlow';
    this.#following = deps.runs.onNews(({ type }) => {
      if (type !== 'events') this.#showStopButton();
    });
  }

  /** Runs a flow, after asking for its inputs if it needs any. */
  async start(target: FlowTarget | undefined, how: HowToRun): Promise<void> {
    requireTrust();
    const found = await findFlow(this.#deps.documents, target);
    if (found === undefined) return;
    const shared = await this.#inputsFor(found);
    if (shared !== null) await this.#run(found, { ...choiceOf(found.flow), shared }, how);
  }

  /** Submits a flow as a job, with the same dialogs as any job. Its run is shown like one on this machine. */
  async startJob(target: FlowTarget | undefined): Promise<string | undefined> {
    requireTrust();
    const found = await findFlow(this.#deps.documents, target);
    if (found === undefined) return undefined;
    const shared = await this.#inputsFor(found);
    if (shared === null || !(await savedFor(found.document))) return undefined;
    const { document, flow } = found;
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    if (folder === undefined) {
      const message = l10n.t('A job sends an open folder, and this file is not in one. Open the folder of the flow.');
      throw new AppError('bad-input', message);
    }
    const file = document.uri.fsPath;
    const job = await this.#deps.submit({
      folder: folder.uri.fsPath,
      file,
      ...choiceOf(flow),
      ...(shared && { shared }),
    });
    if (job !== undefined) await this.#deps.runs.jobs.add(job, file, flow.id);
    return job;
  }

  /** Replays the last run: recorded results are used where code and input are the same, so only edited nodes run. */
  async replay(target: FlowTarget | undefined): Promise<void> {
    const found = await findFlow(this.#deps.documents, target);
    if (found === undefined) return;
    const runs = await this.#deps.runs.reader.list(found.document.uri.fsPath, found.file.flows);
    const last = runs.find(({ flow, isRecorded }) => flow === found.flow.id && isRecorded);
    if (last === undefined)
      throw new AppError('missing', l10n.t('{0} has no run to replay. Run it first.', found.flow.label));
    await this.#again(found.document, { replay: last.id }, last.id);
  }

  /** Runs a flow again from a step of an earlier run. */
  async rerunFrom(
    document: vscode.TextDocument,
    { run, path, visit }: RerunStep & { readonly run: string },
  ): Promise<void> {
    await this.#again(document, { rerun: { run, path, visit } }, run);
  }

  /** Continues a run that waits. @throws AppError `bad-input` if the answer is not allowed, `conflict` if it was answered already. */
  async answer(
    document: vscode.TextDocument,
    { run, input }: { readonly run: string; readonly input: unknown },
  ): Promise<void> {
    requireTrust();
    const { store, jobAnswers } = this.#deps;
    const job = store.get(run);
    if (job !== undefined) return jobAnswers.answer(job, input);
    const { flow } = await this.#flowOf(document, run);
    if (!(await savedFor(document))) return;
    const { missingKey } = await this.#deps.runs.answer(document, { run, flow: flow.id, input });
    if (missingKey !== undefined) await offerModel(flow.label, missingKey);
  }

  /** Runs one node of a recorded run again. @param state the shared state as JSON, if it was edited. */
  async runVisit(
    document: vscode.TextDocument,
    visit: { readonly run: string; readonly path: string; readonly visit: number; readonly state?: string | undefined },
  ): Promise<VisitRuns | undefined> {
    requireTrust();
    const { flow } = await this.#flowOf(document, visit.run);
    return (await savedFor(document)) ? this.#deps.visits.run(document, { ...visit, ...choiceOf(flow) }) : undefined;
  }

  /** Makes a test of a recorded run. */
  async pinTest(document: vscode.TextDocument, run: string): Promise<void> {
    requireTrust();
    const path = await this.#deps.tests.pin(document, run);
    if (path === undefined) return;
    const show = l10n.t('Show Tests');
    const button = await showInformation(
      l10n.t(
        '{0} runs offline in the Test Explorer and with `farwharf flow test`.',
        vscode.workspace.asRelativePath(path),
      ),
      show,
    );
    if (button === show) await vscode.commands.executeCommand('workbench.view.testing.focus');
  }

  stop(): void {
    const running = this.#deps.runs.running();
    if (running !== undefined) this.#deps.runs.stop(running.id);
  }

  dispose(): void {
    this.#following.dispose();
    this.#stopButton.dispose();
  }

  async #again(document: vscode.TextDocument, how: Partial<FlowRunOptions>, run: string): Promise<void> {
    requireTrust();
    const found = await this.#flowOf(document, run);
    await this.#run(found, { ...how, ...choiceOf(found.flow) }, 'run');
  }

  /** The flow of an earlier run, in the current source. */
  async #flowOf(document: vscode.TextDocument, run: string): Promise<FoundFlow> {
    const { documents, runs } = this.#deps;
    const readout = await documents.read(document);
    const { flows } = readout.file;
    const info = (await runs.reader.list(document.uri.fsPath, flows)).find(({ id }) => id === run);
    const flow = flows.find(({ id }) => id === info?.flow);
    if (flow === undefined) throw new AppError('missing', l10n.t('The file no longer contains the flow of that run.'));
    return { ...readout, flow };
  }

  async #run({ document, flow }: FoundFlow, options: FlowRunOptions, how: HowToRun): Promise<void> {
    if (!(await savedFor(document))) return;
    const { runs } = this.#deps;
    const isDebugged = how === 'debug';
    const end = await runs.run(
      document,
      { ...options, isDebugged },
      isDebugged ? { onDebugger: debugWith(document.uri, flow.label, this.#deps.flowRuntime) } : {},
    );
    if (end.missingKey !== undefined) await offerModel(flow.label, end.missingKey);
    else if (isUnseenFailure(end)) await this.#showFailure(flow.label, end);
  }

  /** Undefined if the run needs none, null if the user cancelled. */
  async #inputsFor({ document, file, flow }: FoundFlow): Promise<Readonly<Record<string, unknown>> | undefined | null> {
    const needed = neededKeys(file, flow, document.getText());
    if (needed.size === 0) return undefined;
    const key = `flow inputs ${document.uri.toString()} ${flow.id}`;
    const last = this.#deps.memory.get<Readonly<Record<string, unknown>>>(key) ?? {};
    const inputs = await askInputs(l10n.t('Run {0}', flow.label), needed, last);
    if (inputs === undefined) return null;
    await this.#deps.memory.update(key, inputs);
    return inputs;
  }

  async #showFailure(flow: string, { run }: FlowRunEnd): Promise<void> {
    const show = l10n.t('Show Output');
    const button = await showError(l10n.t('The run of {0} failed: {1}', flow, run.message ?? ''), show);
    if (button === show) this.#deps.runs.showOutput();
  }

  #showStopButton(): void {
    const running = this.#deps.runs.running();
    if (running === undefined) {
      this.#stopButton.hide();
      return;
    }
    this.#stopButton.text = label`$(sync~spin) ${running.flow}`;
    this.#stopButton.tooltip = l10n.t('Stop the running flow');
    this.#stopButton.show();
  }
}

/** Whether a run failed outside of its nodes, whose lines show their failures, and no canvas shows it either. */
function isUnseenFailure({ run, outcome }: FlowRunEnd): boolean {
  const isOfNode = outcome.type === 'failed' && outcome.error.path !== undefined;
  const hasCanvas = vscode.window.tabGroups.all.some(
    ({ activeTab }) =>
      activeTab?.input instanceof vscode.TabInputWebview && activeTab.input.viewType.endsWith(CANVAS_TYPE),
  );
  return run.state === 'failed' && !isOfNode && !hasCanvas;
}

/** Reports that a run had no key for its model, whether it failed or used a fallback, and offers to select a model. */
async function offerModel(flow: string, variable: string): Promise<void> {
  const select = l10n.t('Select Model');
  const button = await showWarning(
    l10n.t(
      'The model of {0} needs an API key: {1} is not set, and no model is selected for it. Select a model, then run the flow again.',
      flow,
      variable,
    ),
    select,
  );
  if (button === select) await vscode.commands.executeCommand('farwharf.selectModel');
}

/** Saves a file before its run. Returns false if it could not be saved. */
async function savedFor(document: vscode.TextDocument): Promise<boolean> {
  if (document.isUntitled)
    throw new AppError('bad-input', l10n.t('A flow runs from a file on disk. Save the file first.'));
  if (document.uri.scheme !== 'file') {
    const message = l10n.t(
      'A flow runs from a file on disk, and this file is not on this machine. Save a copy here to run it.',
    );
    throw new AppError('refused', message);
  }
  return !document.isDirty || (await document.save());
}
