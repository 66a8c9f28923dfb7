import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { PROFILE_FILE, readProfiles } from '../jobs/profiles/profileFile.ts';
import { TASK_TYPE } from './contributions/names.ts';
import { diskFolders, requireTrust } from './workspace/folders.ts';
import { isAbort } from '../core/errors.ts';
import { printableLine } from '../core/text/printable.ts';
import { describeResultCount } from '../jobs/report/describeJob.ts';
import { hasSucceeded, isActive, type JobRecord } from '../jobs/ledger/record.ts';
import { LogText } from '../jobs/log/logText.ts';
import { patchFromEvent } from '../jobs/log/jobPatch.ts';
import { EventSpool } from '../jobs/log/spool.ts';
import { type CancelDeps, cancelJob } from './jobs/cancelJob.ts';
import type { AsyncLedger } from '../jobs/ledger/asyncLedger.ts';
import { readSubmitArguments, type SubmitArguments } from './submit/submitArguments.ts';
import type { Worker } from './threads/worker.ts';
import { explain } from './ui/errorText.ts';

const CTRL_C = '\u0003';
const FAILED = 1;
const RED = '\u001b[31m';
const RESET = '\u001b[0m';

interface JobTerminalDeps extends CancelDeps {
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly ledger: Pick<AsyncLedger, 'get'>;
  readonly submit: (wanted: SubmitArguments, options: { readonly showsLog: boolean }) => Promise<string | undefined>;
  readonly worker: Pick<Worker, 'results'>;
}

/** Tasks that run jobs: one for each profile, and those that people write in tasks.json. */
export class JobTasks implements vscode.TaskProvider {
  readonly #deps: JobTerminalDeps;

  constructor(deps: JobTerminalDeps) {
    this.#deps = deps;
  }

  async provideTasks(): Promise<vscode.Task[]> {
    const perFolder = diskFolders().map(async (folder) => {
      try {
        const profiles = await readProfiles(folder.uri.fsPath);
        return profiles.map(({ name }) => this.#task({ type: TASK_TYPE, profile: name }, folder, name));
      } catch (error) {
        // Most folders have no profiles. Errors in the file are shown in it, and when one is submitted.
        this.#deps.log.debug(`no tasks of ${PROFILE_FILE}`, { error });
        return [];
      }
    });
    return (await Promise.all(perFolder)).flat();
  }

  /** VS Code shows the task only if its definition stays the same. */
  resolveTask({ definition, scope, name }: vscode.Task): vscode.Task {
    return this.#task(definition, typeof scope === 'object' ? scope : vscode.TaskScope.Workspace, name);
  }

  #task(definition: vscode.TaskDefinition, scope: vscode.WorkspaceFolder | vscode.TaskScope.Workspace, name: string) {
    const folder = typeof scope === 'object' ? scope.uri.fsPath : undefined;
    const execution = new vscode.CustomExecution(async (resolved) => {
      requireTrust();
      return new JobTerminal(this.#deps, { ...resolved, ...(folder !== undefined && { folder }) });
    });
    return new vscode.Task(definition, scope, name, TASK_TYPE, execution, []);
  }
}

/** The terminal of a task: submits a job, shows its log in colour as it arrives, and exits as the job does. Ctrl+C and the end of the task cancel the job. */
class JobTerminal implements vscode.Pseudoterminal {
  readonly #deps: JobTerminalDeps;
  readonly #argument: object;
  readonly #written = new vscode.EventEmitter<string>();
  readonly #closed = new vscode.EventEmitter<number>();
  readonly #reading = new AbortController();
  #id: string | undefined;
  #isCancelled = false;
  readonly onDidWrite = this.#written.event;
  readonly onDidClose = this.#closed.event;

  /** @param argument as for the command that submits. */
  constructor(deps: JobTerminalDeps, argument: object) {
    this.#deps = deps;
    this.#argument = argument;
  }

  open(): void {
    this.#run().then(
      (exit) => this.#closed.fire(exit),
      (error: unknown) => {
        if (isAbort(error)) return; // the terminal is gone
        this.#deps.log.error('a task failed', { error });
        this.#write(`${RED}${printableLine(explain(error).sentence)}${RESET}\n`);
        this.#closed.fire(FAILED);
      },
    );
  }

  /** Called when the task is terminated or its terminal is closed; after the job ended, nothing is left to cancel. */
  close(): void {
    this.#cancel();
    this.#reading.abort();
  }

  handleInput(data: string): void {
    if (data === CTRL_C) this.#cancel();
  }

  async #run(): Promise<number> {
    this.#id = await this.#deps.submit(readSubmitArguments(this.#argument), { showsLog: false });
    if (this.#id === undefined) {
      this.#write(`${l10n.t('Nothing was submitted.')}\n`);
      return FAILED;
    }
    const record = await this.#deps.ledger.get(this.#id);
    if (record === undefined) return FAILED; // removed from the list meanwhile
    if (this.#isCancelled) this.#cancel();
    return this.#follow(record);
  }

  async #follow(record: JobRecord): Promise<number> {
    const { machineClass: machine } = record;
    const text = new LogText({ colour: true, ...(machine !== null && { machine }) });
    const spool = new EventSpool(this.#deps.home, record.id);
    // The ledger may say later than the log how the job ended.
    let current = record;
    for await (const event of spool.follow({ signal: this.#reading.signal })) {
      const results = event.event === 'end' ? await this.#deps.worker.results.count(record.id) : null;
      this.#write(text.push(event, describeResultCount({ results })));
      current = { ...current, ...patchFromEvent(event.event, event.data, event.at, current) };
    }
    this.#write(text.flush());
    return hasSucceeded(current) ? 0 : current.exitCode || FAILED;
  }

  #cancel(): void {
    this.#isCancelled = true;
    this.#cancelJob().catch((error: unknown) => {
      this.#deps.log.warn('the job of a task could not be cancelled', { error });
      this.#write(`${RED}${printableLine(explain(error).sentence)}${RESET}\n`);
    });
  }

  async #cancelJob(): Promise<void> {
    const record = this.#id === undefined ? undefined : await this.#deps.ledger.get(this.#id);
    if (record !== undefined && isActive(record)) await cancelJob(this.#deps, record);
  }

  #write(text: string): void {
    if (text !== '') this.#written.fire(text.replaceAll('\n', '\r\n'));
  }
}
