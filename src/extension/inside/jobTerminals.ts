import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import { describeJob } from '../../jobs/report/describeJob.ts';
import { isOver, type JobRecord, shortId } from '../../jobs/ledger/record.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import { hostLabel } from '../ui/words.ts';
import { JobTerminal } from './jobTerminal.ts';
import type { JobTunnels } from './jobTunnels.ts';

const KEY = 'jobTerminals';

interface JobTerminalsDeps {
  readonly memory: vscode.Memento;
  readonly store: Pick<JobStore, 'get' | 'onDidChange'>;
  readonly tunnels: Pick<JobTunnels, 'requireRunning' | 'use'>;
}

interface OpenTerminal {
  readonly record: JobRecord;
  readonly terminal: vscode.Terminal;
  readonly shell: JobTerminal;
}

/** The terminals in running jobs, one for each. After a reload of the window they are there again, without their shells. */
export class JobTerminals implements vscode.Disposable {
  readonly #deps: JobTerminalsDeps;
  readonly #open = new Map<string, OpenTerminal>();
  readonly #listeners: vscode.Disposable;

  constructor(deps: JobTerminalsDeps) {
    this.#deps = deps;
    const { store } = deps;
    const reopened = store.onDidChange(() => {
      reopened.dispose(); // the list has been read
      this.#reopen();
    });
    this.#listeners = vscode.Disposable.from(
      reopened,
      store.onDidChange(({ ended }) => {
        for (const record of ended) this.#open.get(record.id)?.shell.jobEnded(describeEnd(record));
      }),
      vscode.window.onDidCloseTerminal((terminal) => this.#onClosed(terminal)),
    );
  }

  /** Shows the terminal of a job. @throws AppError `refused` if the job does not run. */
  show(record: JobRecord): void {
    const terminal = this.#open.get(record.id)?.terminal;
    if (terminal === undefined) this.#deps.tunnels.requireRunning(record);
    (terminal ?? this.#create(record, { isReloaded: false })).show();
  }

  /** The job of a terminal. */
  recordOf(terminal: vscode.Terminal): JobRecord | undefined {
    return this.#find(terminal)?.record;
  }

  dispose(): void {
    this.#listeners.dispose();
    for (const { shell } of this.#open.values()) shell.close();
  }

  #create(record: JobRecord, { isReloaded }: { readonly isReloaded: boolean }): vscode.Terminal {
    const { tunnels } = this.#deps;
    const script = shownScript(record.script);
    const job = l10n.t('{0} on {1}', script, hostLabel(record.host));
    const shell = new JobTerminal({ job, isReloaded, connect: () => tunnels.use(record) });
    const terminal = vscode.window.createTerminal({
      name: printableLine(`${script} (${shortId(record)})`),
      iconPath: new vscode.ThemeIcon('server-process'),
      pty: shell,
    });
    this.#open.set(record.id, { record, terminal, shell });
    this.#remember();
    return terminal;
  }

  #reopen(): void {
    for (const id of this.#deps.memory.get<readonly string[]>(KEY) ?? []) {
      const record = this.#deps.store.get(id);
      if (record !== undefined && !isOver(record) && !this.#open.has(id)) this.#create(record, { isReloaded: true });
    }
    this.#remember();
  }

  #onClosed(terminal: vscode.Terminal): void {
    const found = this.#find(terminal);
    if (found === undefined) return;
    this.#open.delete(found.record.id);
    if (terminal.exitStatus?.reason !== vscode.TerminalExitReason.Shutdown) this.#remember();
  }

  #find(terminal: vscode.Terminal): OpenTerminal | undefined {
    return [...this.#open.values()].find((each) => each.terminal === terminal);
  }

  #remember(): void {
    void this.#deps.memory.update(KEY, [...this.#open.keys()]);
  }
}

function describeEnd(record: JobRecord): string {
  return `${shownScript(record.script)}: ${describeJob(record, Date.now())}`;
}
