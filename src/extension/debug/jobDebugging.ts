import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { textField } from '../../core/jsonFields.ts';
import { untilAborted } from '../../core/processes/lifetime.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeFrozen, isDebuggable, isFrozen } from '../../jobs/report/frozenText.ts';
import { JobSources } from '../../jobs/debug/jobSources.ts';
import { serveInspector } from '../../jobs/debug/serveInspector.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import type { DebuggableProcess } from '../../remote/tunnel/debugChannels.ts';
import { DEBUG_TYPE } from '../contributions/names.ts';
import { findOrPickJob, type JobFinder } from '../jobs/list/jobCommand.ts';
import type { JobTunnels } from '../inside/jobTunnels.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { SubmitArguments } from '../submit/submitArguments.ts';
import { readDebugArguments } from './debugArguments.ts';
import type { Worker } from '../threads/worker.ts';
import { label } from '../ui/labels.ts';
import { pickRow, showCancellable } from '../ui/show.ts';
import { requireTrust } from '../workspace/folders.ts';
import { JobDebugAdapter } from './debugAdapter.ts';
import { InspectorSession } from './inspectorSession.ts';

interface JobDebuggingDeps {
  readonly finder: JobFinder;
  readonly report: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly store: JobStore;
  readonly submit: (asked: SubmitArguments) => Promise<string | undefined>;
  readonly tunnels: Pick<JobTunnels, 'use'>;
  readonly worker: Pick<Worker, 'sources' | 'submitted'>;
}

/** Debug sessions with running jobs. */
export class JobDebugging implements vscode.Disposable {
  readonly #deps: JobDebuggingDeps;
  /** Adapters whose sessions are about to start, by the `connection` of their configuration. */
  readonly #prepared = new Map<string, JobDebugAdapter>();
  /** The jobs that sessions of this window are attached to. */
  readonly #attached = new Set<string>();
  /** What waits for jobs that are to be attached to. */
  readonly #waiting = new Map<string, vscode.Disposable>();
  /** The sessions of VS Code's own JavaScript debugger with jobs. */
  readonly #inspectors = new Set<InspectorSession>();

  constructor(deps: JobDebuggingDeps) {
    this.#deps = deps;
  }

  /** Whether this window debugs the job, or will as soon as that is possible. */
  isDebugging(id: string): boolean {
    return this.#attached.has(id) || this.#waiting.has(id);
  }

  /**
   * What VS Code is to do with a configuration. One that launches is submitted as a job, to which a session attaches when the job runs:
   * that may be hours later, so this session does not start.
   *
   * @returns undefined to start no session. Failures are reported.
   */
  async resolve(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    try {
      requireTrust();
      if (configuration.request === 'launch') {
        await this.#launch(folder, configuration);
        return undefined;
      }
      return await this.#prepare(configuration);
    } catch (error) {
      this.#deps.report(error);
      return undefined;
    }
  }

  /** The adapter of a session that `resolve` prepared. */
  createAdapter({ configuration }: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    const connection = textField(configuration, 'connection') ?? '';
    const adapter = this.#prepared.get(connection);
    this.#prepared.delete(connection);
    if (adapter === undefined)
      throw new AppError('conflict', l10n.t('The connection to the job was lost. Attach again.'));
    return new vscode.DebugAdapterInlineImplementation(adapter);
  }

  /** Attaches to a job. */
  async attach({ id, script, folder }: JobRecord, justMyCode = true): Promise<void> {
    const owner = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder));
    await vscode.debug.startDebugging(owner, {
      type: DEBUG_TYPE,
      request: 'attach',
      name: printableLine(shownScript(script)),
      job: id,
      justMyCode,
    });
  }

  dispose(): void {
    for (const adapter of this.#prepared.values()) adapter.dispose();
    for (const waiting of this.#waiting.values()) waiting.dispose();
    for (const inspector of this.#inspectors) inspector.dispose();
  }

  async #launch(folder: vscode.WorkspaceFolder | undefined, configuration: vscode.DebugConfiguration): Promise<void> {
    const asked = readDebugArguments(configuration, folder?.uri.fsPath ?? undefined);
    const id = await this.#deps.submit(asked);
    if (id !== undefined) this.#attachWhenFrozen(id, configuration['justMyCode'] !== false);
  }

  /** Attaches to a job of this window as soon as it waits for that, which it does at its start. */
  #attachWhenFrozen(id: string, justMyCode: boolean): void {
    const { store, report } = this.#deps;
    const check = (): void => {
      const record = store.get(id);
      if (record === undefined || !(isFrozen(record) || isOver(record))) return;
      listening.dispose();
      const attaching = isFrozen(record) ? this.attach(record, justMyCode).catch(report) : undefined;
      void Promise.resolve(attaching).then(() => this.#waiting.delete(id));
    };
    const listening = store.onDidChange(check);
    this.#waiting.set(id, listening);
    check();
  }

  async #prepare(configuration: vscode.DebugConfiguration): Promise<vscode.DebugConfiguration | undefined> {
    const record = await findOrPickJob(this.#deps.finder, textField(configuration, 'job'), {
      title: l10n.t('Attach Debugger'),
      only: { fits: isDebuggable, none: l10n.t('No job that was submitted with a debugger is running.') },
    });
    if (record === undefined) return undefined;
    const name = shownScript(record.script);
    const adapter = await showCancellable(l10n.t('Attaching to {0}', name), (signal) => this.#connect(record, signal));
    if (adapter === undefined) return undefined;
    if (adapter instanceof InspectorSession) {
      await adapter.start(vscode.workspace.getWorkspaceFolder(vscode.Uri.file(record.folder)), configuration);
      return undefined;
    }
    const connection = randomUUID();
    this.#prepared.set(connection, adapter);
    return { ...configuration, job: record.id, connection };
  }

  /** Undefined if the user picked no process, or cancelled. */
  async #connect(record: JobRecord, signal: AbortSignal): Promise<JobDebugAdapter | InspectorSession | undefined> {
    const opening = this.#open(record);
    const adapter = await Promise.race([opening, untilAborted(signal)]);
    if (!signal.aborted) return adapter;
    opening.then(
      (late) => late?.dispose(),
      () => {}, // nobody waits for it any more
    );
    return undefined;
  }

  async #open(record: JobRecord): Promise<JobDebugAdapter | InspectorSession | undefined> {
    if (!isDebuggable(record)) {
      const name = shownScript(record.script);
      throw new AppError(
        'refused',
        record.debug === null
          ? l10n.t('{0} was submitted without a debugger. Use Debug as Job.', name)
          : l10n.t('{0} is not running.', name),
      );
    }
    const tunnel = await this.#deps.tunnels.use(record);
    let isAttached = false;
    try {
      const { folder: jobFolder, processes } = await tunnel.client.debugProcesses();
      const chosen =
        processes.find(({ process }) => process === record.frozen?.process) ?? (await pickProcess(processes));
      if (chosen === undefined) return undefined;
      const { process, language } = chosen;
      const sources = this.#sources(record, jobFolder);
      const open = (): Promise<Duplex> => tunnel.client.debug(process);
      const leave = (): void => {
        this.#attached.delete(record.id);
        tunnel[Symbol.dispose]();
      };
      const session =
        language === 'node'
          ? await this.#inspect(record.id, { sources, open, leave })
          : new JobDebugAdapter(await open(), sources, leave);
      isAttached = true;
      this.#attached.add(record.id);
      return session;
    } finally {
      if (!isAttached) tunnel[Symbol.dispose]();
    }
  }

  /** Serves the debugger of a job of Node.js to VS Code's own, which does not say why the job waits. */
  async #inspect(
    id: string,
    {
      sources,
      open,
      leave,
    }: { readonly sources: JobSources; readonly open: () => Promise<Duplex>; readonly leave: () => void },
  ): Promise<InspectorSession> {
    const ended = new AbortController();
    const onEvent = (text: string): void => vscode.debug.activeDebugConsole.appendLine(printableLine(text));
    const openDebugger = async (): Promise<Duplex> => {
      const stream = await open();
      const record = this.#deps.store.get(id);
      if (record !== undefined && isFrozen(record)) onEvent(`${shownScript(record.script)} ${describeFrozen(record)}`);
      return stream;
    };
    const url = await serveInspector({ port: 0, sources, openDebugger, onEvent }, ended.signal);
    const session = new InspectorSession(url, () => {
      this.#inspectors.delete(session);
      ended.abort();
      leave();
    });
    this.#inspectors.add(session);
    return session;
  }

  #sources({ id, folder }: JobRecord, jobFolder: string): JobSources {
    const { sources, submitted } = this.#deps.worker;
    return new JobSources({
      id,
      jobFolder,
      localFolder: folder,
      submitted,
      compare: (older, current) => sources.compareLines(older, current),
      unsavedText: (file) =>
        vscode.workspace.textDocuments
          .find(({ uri, isDirty }) => isDirty && uri.scheme === 'file' && uri.fsPath === file)
          ?.getText(),
    });
  }
}

/** The only process, or the one that the user picks. */
async function pickProcess(
  processes: readonly DebuggableProcess[],
): Promise<Pick<DebuggableProcess, 'process' | 'language'> | undefined> {
  const [first, ...others] = processes;
  if (first === undefined)
    throw new AppError(
      'refused',
      l10n.t('The job runs no program that a debugger can be attached to. Its log says why.'),
    );
  if (others.length === 0) return first;
  const rows = processes.map(({ process, language, name, rank, state }) => ({
    label: label`$(${state === 'stopped' ? 'debug-pause' : 'play'}) ${name}`,
    description: label`${rank === undefined ? l10n.t('process {0}', process) : l10n.t('rank {0}, process {1}', rank, process)}`,
    process,
    language,
  }));
  return pickRow(rows, { title: l10n.t('Attach Debugger') });
}
