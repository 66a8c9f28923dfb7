import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../contributions/parts.ts';
import { AppError } from '../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../core/processes/lifetime.ts';
import { startThread } from '../../core/rpc/rpcProgram.ts';
import type { FlowRuntime } from '../../flows/run/protocol/runRequest.ts';
import { readByRunning } from '../../flows/run/start/readByRunning.ts';
import type { Keys } from '../account/keys.ts';
import { selectModel } from '../agents/modelPick.ts';
import { openModel } from '../agents/models.ts';
import { type Background, startBackground, THREAD_IDLE_MS } from '../threads/background.ts';
import { diskFolders, requireTrust } from '../workspace/folders.ts';
import { mainFlow } from '../../flows/graph/flowChoice.ts';
import { setUpTypes } from '../../flows/project/setUpTypes.ts';
import type { FlowWorkerService } from '../threads/flowWorker.ts';
import type { Hosts } from '../account/hosts.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { LostContacts } from '../jobs/store/lostContacts.ts';
import type { Worker } from '../threads/worker.ts';
import type { SubmitFlow } from './runs/jobAnswers.ts';
import { Canvases } from './canvas/canvases.ts';
import {
  registerFlowCompletions,
  registerFlowHovers,
  registerFlowLenses,
  registerFlowRenames,
  showFlowMarks,
} from './language/languageFeatures.ts';
import { openTrace } from './canvas/traceCanvas.ts';
import { FlowDiagnostics } from './language/flowDiagnostics.ts';
import { FlowDocuments } from './documents/flowDocuments.ts';
import { FlowRuns } from './runs/flowRuns.ts';
import { flowPlace } from './runs/flowRuntime.ts';
import { FlowStarter } from './runs/flowStarter.ts';
import { FlowEvals } from './runs/flowEvals.ts';
import { FlowTests } from './runs/flowTests.ts';
import { JobAnswers } from './runs/jobAnswers.ts';
import { findFlow, type FlowTarget } from './documents/flowTarget.ts';
import { newFlow } from './newFlow.ts';
import { VisitRunner } from './runs/visitRunner.ts';
import { Prompts } from './runs/prompts.ts';
import { RunDecorations } from './runs/runDecorations.ts';
import { showCancellable, showInformation } from '../ui/show.ts';
import type { ContextKeys } from '../contributions/contexts.ts';

export interface FlowsDeps
  extends Pick<WindowParts, 'context' | 'contexts' | 'home' | 'ledger' | 'log' | 'report' | 'signal'> {
  readonly flowRuntime: FlowRuntime;
  readonly hosts: Hosts;
  readonly jobs: { readonly lostContacts: LostContacts; readonly store: JobStore };
  readonly modelKeys: Keys;
  readonly submit: SubmitFlow;
  readonly worker: Pick<Worker, 'browsed'>;
}

/** Flows in this window: reading, canvases, runs, and their display in editors. */
export class Flows implements Disposable {
  readonly documents: FlowDocuments;
  readonly runs: FlowRuns;
  readonly canvases: Canvases;
  readonly starter: FlowStarter;
  readonly prompts: Prompts;
  readonly jobAnswers: JobAnswers;
  readonly #report: FlowsDeps['report'];
  readonly #background: Background<FlowWorkerService>;
  readonly #extension: vscode.Uri;
  readonly #runtime: FlowRuntime;
  readonly #modelKeys: Keys;
  readonly #disposables = new DisposableStore();

  constructor(deps: FlowsDeps) {
    const { context, contexts, flowRuntime: runtime, home, jobs, log, modelKeys, report, submit } = deps;
    const { store } = jobs;
    const name = 'farwharf-flows';
    this.#background = startBackground<FlowWorkerService>({
      start: () => startThread(context.asAbsolutePath(join('dist', 'flowWorker.mjs')), { name, workerData: { home } }),
      name,
      log,
      lost: l10n.t('The flow reader stopped. It restarts with the next change.'),
      // It has the texts of open documents.
      idle: { afterMs: THREAD_IDLE_MS, isNeeded: () => !this.documents.isEmpty },
    });
    const { reader, runs: queries, versions } = this.#background.service;
    this.#report = report;
    this.#extension = context.extensionUri;
    this.#runtime = runtime;
    this.#modelKeys = modelKeys;
    const disposables = this.#disposables;
    disposables.add({ dispose: () => void this.#background.end() });
    this.documents = disposables.add(new FlowDocuments(reader, log));
    this.runs = disposables.add(
      new FlowRuns({
        ...jobs,
        flowRuntime: runtime,
        home,
        log,
        memory: context.workspaceState,
        modelKeys,
        queries,
        readReach: (file) => reader.reach(file),
      }),
    );
    const tests = disposables.add(
      new FlowTests({ runtime, home, log, report, readReach: (file) => reader.reach(file) }),
    );
    disposables.add(new FlowEvals({ flowRuntime: runtime, home, log, modelKeys }));
    const visits = disposables.add(new VisitRunner({ flowRuntime: runtime, home, modelKeys }));
    this.jobAnswers = new JobAnswers({ ...deps, browsed: deps.worker.browsed, store }, this.runs.jobs);
    this.starter = disposables.add(
      new FlowStarter({
        flowRuntime: runtime,
        store,
        submit,
        documents: this.documents,
        runs: this.runs,
        tests,
        jobAnswers: this.jobAnswers,
        visits,
        memory: context.workspaceState,
      }),
    );
    this.canvases = disposables.add(
      new Canvases({
        extension: context.extensionUri,
        documents: this.documents,
        reader,
        runs: this.runs,
        starter: this.starter,
        visits,
        versions,
        memory: context.workspaceState,
        log,
        report,
      }),
    );
    this.prompts = disposables.add(new Prompts({ documents: this.documents, queries, keys: modelKeys }));
    disposables.add(showFlowMarks(this.documents, context.extensionUri));
    disposables.add(registerFlowLenses(this.documents));
    disposables.add(new FlowDiagnostics(this.documents, reader, log));
    const decorations = disposables.add(new RunDecorations(this.documents, this.runs));
    disposables.add(registerFlowHovers(this.documents, reader, decorations));
    disposables.add(registerFlowCompletions(this.documents, reader));
    disposables.add(registerFlowRenames(this.documents, reader));
    disposables.add(followFlowContexts(contexts, this.documents, this.runs));
  }

  /** Shows the canvas of a flow. */
  async openCanvas(target: FlowTarget | undefined): Promise<void> {
    const found = await findFlow(this.documents, target);
    if (found !== undefined) this.canvases.show(found.document, found.flow.id);
  }

  /** Shows the runs of a trace of another program on a canvas. @param uri the file; the user chooses one if it is undefined. */
  async openTrace(uri: vscode.Uri | undefined): Promise<void> {
    const { traces } = this.#background.service;
    await openTrace({ extension: this.#extension, traces, report: this.#report }, uri);
  }

  /** Loads the file of a flow in its own process, and shows what the source alone does not determine. This runs its code. */
  async readByRunning(target: FlowTarget | undefined): Promise<void> {
    const found = await findFlow(this.documents, target);
    if (found === undefined) return;
    requireTrust();
    const request = flowPlace(found.document.uri.fsPath);
    const exact = await showCancellable(l10n.t('Loading the flow'), (signal) =>
      readByRunning(this.#runtime, request, signal),
    );
    this.canvases.showExact(found, exact);
  }

  /** Creates a flow from a template, and shows its source beside its canvas. */
  async create(): Promise<void> {
    const keys = this.#modelKeys;
    const document = await newFlow(this.#extension, {
      selected: async () => (await openModel(keys))?.name,
      select: () => selectModel(keys),
    });
    if (document === undefined) return;
    const { file } = await this.documents.read(document);
    const flow = mainFlow(file);
    if (flow !== undefined) this.canvases.show(document, flow.id);
  }

  /** Writes the types of the library into the folder, for editors other than VS Code. */
  async setUpTypes(): Promise<void> {
    requireTrust();
    const active = vscode.window.activeTextEditor?.document.uri;
    const folder = (active && vscode.workspace.getWorkspaceFolder(active)) ?? diskFolders()[0];
    if (folder === undefined)
      throw new AppError('no-folder', l10n.t('Types are written into a folder. Open a folder first.'));
    const { status } = await setUpTypes(folder.uri.fsPath, dirname(this.#runtime.runner));
    void showInformation(
      status === 'installed'
        ? l10n.t('The folder already has farwharf with its own types.')
        : l10n.t('Wrote the types into node_modules/farwharf. npm may remove them; run this command again if it does.'),
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

/** Updates the context keys of flows: whether the active editor has one, and whether one is running. */
function followFlowContexts(contexts: ContextKeys, documents: FlowDocuments, runs: FlowRuns): Disposable {
  const disposables = new DisposableStore();
  const updateEditor = (): void => {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const readout = uri === undefined ? undefined : documents.last(uri);
    contexts.set('flowEditor', (readout?.file.flows.length ?? 0) > 0);
  };
  disposables.add(documents.onDidRead(updateEditor));
  disposables.add(documents.onDidClose(updateEditor));
  disposables.add(vscode.window.onDidChangeActiveTextEditor(updateEditor));
  disposables.add(runs.onNews(() => contexts.set('flowRunning', runs.running() !== undefined)));
  contexts.set('flowRunning', false);
  updateEditor();
  return disposables;
}
