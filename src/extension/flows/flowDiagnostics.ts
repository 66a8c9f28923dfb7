import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../core/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import type { RemoteService } from '../../core/workerRpc.ts';
import type { Fix, FlowDiagnostic, Severity } from '../../flows/diagnostics/diagnostic.ts';
import type { FlowWorkerService } from '../flowWorker.ts';
import { type FlowDocuments, readerPath } from './flowDocuments.ts';
import { toRange } from './ranges.ts';
import { toWorkspaceEdit, uriOf } from './sourceEdits.ts';
import { FLOW_SELECTOR } from './flowText.ts';

// Long enough that a word is typed to its end before it is called wrong.
const AFTER_MS = 300;
const SEVERITIES: Readonly<Record<Severity, vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  hint: vscode.DiagnosticSeverity.Hint,
};

interface FixAction extends vscode.CodeAction {
  readonly file: string;
  readonly fix: Fix;
}

/** What is wrong in flows, while typing, with ways to mend it. */
export class FlowDiagnostics implements vscode.CodeActionProvider<FixAction>, Disposable {
  readonly #reader: RemoteService<FlowWorkerService>['reader'];
  readonly #log: Logger;
  readonly #collection = vscode.languages.createDiagnosticCollection('farwharf');
  readonly #found = new Map<string, { readonly version: number; readonly diagnostics: readonly FlowDiagnostic[] }>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #disposables = new DisposableStore();

  constructor(documents: FlowDocuments, reader: RemoteService<FlowWorkerService>['reader'], log: Logger) {
    this.#reader = reader;
    this.#log = log;
    const own = this.#disposables;
    own.add(this.#collection);
    own.add(documents.onDidRead(({ document }) => this.#checkSoon(document)));
    own.add(documents.onDidClose(({ uri }) => this.#forget(uri)));
    const kinds = { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] };
    own.add(vscode.languages.registerCodeActionsProvider(FLOW_SELECTOR, this, kinds));
  }

  provideCodeActions(document: vscode.TextDocument, range: vscode.Range): FixAction[] {
    const found = this.#found.get(document.uri.toString());
    if (found?.version !== document.version) return []; // places and edits are those of an earlier text
    const here = found.diagnostics.filter((one) => toRange(one.range).intersection(range));
    return here.flatMap((one) =>
      one.fixes.map((fix, index) => {
        const action = new vscode.CodeAction(fix.title, vscode.CodeActionKind.QuickFix);
        action.diagnostics = [toDiagnostic(one)];
        action.isPreferred = index === 0;
        return Object.assign(action, { file: readerPath(document), fix });
      }),
    );
  }

  /** The edits of a fix are made when it is chosen: most are never. */
  async resolveCodeAction(action: FixAction): Promise<FixAction> {
    const { file, fix } = action;
    const outcome =
      'edits' in fix ? { ok: true as const, edits: fix.edits } : await this.#reader.edit(file, fix.operation);
    if (outcome.ok) action.edit = toWorkspaceEdit(outcome.edits);
    else void vscode.window.showWarningMessage(outcome.reason);
    return action;
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#disposables.dispose();
  }

  #checkSoon(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    const check = (): void => {
      this.#timers.delete(key);
      this.#check(document).catch((error: unknown) => this.#log.error('a flow could not be checked', { error }));
    };
    this.#timers.set(key, setTimeout(check, AFTER_MS));
  }

  async #check(document: vscode.TextDocument): Promise<void> {
    const { version } = document;
    const found = await this.#reader.diagnose(readerPath(document));
    if (document.isClosed || document.version !== version) return; // the next reading checks again
    this.#found.set(document.uri.toString(), { version, diagnostics: found });
    this.#collection.set(document.uri, found.map(toDiagnostic));
  }

  #forget(uri: vscode.Uri): void {
    clearTimeout(this.#timers.get(uri.toString()));
    this.#found.delete(uri.toString());
    this.#collection.delete(uri);
  }
}

function toDiagnostic({ code, severity, message, range, related }: FlowDiagnostic): vscode.Diagnostic {
  const diagnostic = new vscode.Diagnostic(toRange(range), message, SEVERITIES[severity]);
  diagnostic.source = 'farwharf';
  diagnostic.code = code;
  diagnostic.relatedInformation = related.map(
    (one) =>
      new vscode.DiagnosticRelatedInformation(
        new vscode.Location(uriOf(one.range.file), toRange(one.range)),
        one.message,
      ),
  );
  return diagnostic;
}
