import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/processes/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import { printableLine } from '../../core/text/printable.ts';
import { describeJob } from '../../jobs/report/describeJob.ts';
import { hasSucceeded, isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { lastLines } from '../../jobs/log/lastLines.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import { scriptPath } from '../../jobs/selection/script.ts';
import { failureReference } from '../../jobs/source/failureReference.ts';
import { startedNotebook } from '../../jobs/selection/script.ts';
import { SourceFiles } from '../../jobs/source/sourceFiles.ts';
import type { SourceReference } from '../../jobs/source/sourceReference.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { FailureDeps } from './failureNotifications.ts';

interface ProblemDeps extends Omit<FailureDeps, 'watched'> {
  readonly store: JobStore;
  readonly log: Logger;
}

interface Problem {
  readonly record: JobRecord;
  readonly reference: SourceReference;
  readonly location: vscode.Location;
}

/** Shows in the Problems view at which line a job of this window failed, until the script is submitted again. */
export class FailureProblems implements Disposable {
  readonly #deps: ProblemDeps;
  readonly #collection = vscode.languages.createDiagnosticCollection('farwharf jobs');
  readonly #problems = new Map<string, Problem>();
  readonly #disposables = new DisposableStore();

  constructor(deps: ProblemDeps) {
    this.#deps = deps;
    this.#disposables.add(this.#collection);
    this.#disposables.add(
      deps.store.onDidChange(({ ids, ended }) => {
        for (const id of ids) this.#forget(id);
        for (const record of ended) {
          if (hasSucceeded(record) || record.state === 'cancelled' || !deps.wasSubmittedHere(record.id)) continue;
          this.#find(record).catch((error: unknown) => deps.log.warn('the line of a failure was not found', { error }));
        }
      }),
    );
    // VS Code moves a problem while its file is edited in an editor. Other changes are found when the file is opened.
    this.#disposables.add(
      vscode.workspace.onDidOpenTextDocument(({ uri }) => {
        for (const { record, reference, location } of this.#problems.values()) {
          if (location.uri.toString() === uri.toString()) this.#locate(record, reference).catch(() => {});
        }
      }),
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #find(record: JobRecord): Promise<void> {
    const { home } = this.#deps;
    const lines = await lastLines(new EventSpool(home, record.id));
    const reference = await failureReference(lines, new SourceFiles(record), startedNotebook(record));
    if (reference !== undefined) await this.#locate(record, reference);
  }

  async #locate(record: JobRecord, reference: SourceReference): Promise<void> {
    const { signal, sourceLines } = this.#deps;
    const location = await sourceLines.locate(record, reference, signal, { isQuiet: true });
    if (location === undefined) return;
    this.#problems.set(keyOf(record), { record, reference, location });
    this.#show();
  }

  /** Removes the problem of an earlier job when its script is submitted again. */
  #forget(id: string): void {
    const record = this.#deps.store.get(id);
    if (record !== undefined && !isOver(record) && this.#problems.delete(keyOf(record))) this.#show();
  }

  #show(): void {
    const byFile = Map.groupBy(this.#problems.values(), ({ location }) => location.uri.toString());
    this.#collection.clear();
    for (const found of byFile.values()) {
      const [first] = found;
      if (first !== undefined) this.#collection.set(first.location.uri, found.map(toDiagnostic));
    }
  }
}

function toDiagnostic({ record, location }: Problem): vscode.Diagnostic {
  const diagnostic = new vscode.Diagnostic(location.range, printableLine(describeJob(record, Date.now())));
  diagnostic.source = 'farwharf job';
  return diagnostic;
}

/** Jobs with the same key run the same script of the same folder. */
function keyOf({ folder, script }: JobRecord): string {
  return `${folder}\n${scriptPath(script)}`;
}
