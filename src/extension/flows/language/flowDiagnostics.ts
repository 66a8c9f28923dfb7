import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import type { Logger } from '../../../core/log.ts';
import type { Fix, FlowDiagnostic, Severity } from '../../../flows/language/diagnostic.ts';
import { type FlowDocuments, readerPath, type RemoteReader } from '../documents/flowDocuments.ts';
import { toRange } from '../documents/ranges.ts';
import { toWorkspaceEdit, uriOf } from '../documents/sourceEdits.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';
import { showWarning } from '../../ui/show.ts';
import { printableText } from '../../../core/text/printable.ts';

// Long enough to finish typing a word before it is checked.
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

/** The result of checking a document's text. */
interface Found {
  readonly version: number;
  readonly diagnostics: readonly FlowDiagnostic[];
}

interface ScheduledCheck {
  readonly timer: NodeJS.Timeout;
  /** Resolves when the document was checked or the check was cancelled. */
  readonly done: PromiseWithResolvers<void>;
}

/** Problems in flows, while typing, with fixes. */
export class FlowDiagnostics implements vscode.CodeActionProvider<FixAction>, Disposable {
  readonly #documents: FlowDocuments;
  readonly #reader: RemoteReader;
  readonly #log: Logger;
  readonly #collection = vscode.languages.createDiagnosticCollection('farwharf');
  readonly #found = new Map<string, Found>();
  readonly #scheduled = new Map<string, ScheduledCheck>();
  readonly #disposables = new DisposableStore();

  constructor(documents: FlowDocuments, reader: RemoteReader, log: Logger) {
    this.#documents = documents;
    this.#reader = reader;
    this.#log = log;
    const disposables = this.#disposables;
    disposables.add(this.#collection);
    disposables.add(documents.onDidRead(({ document }) => this.#checkSoon(document)));
    disposables.add(documents.onDidClose(({ uri }) => this.#forget(uri)));
    const kinds = { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] };
    disposables.add(vscode.languages.registerCodeActionsProvider(FLOW_SELECTOR, this, kinds));
  }

  /** Waits for the check of the current text, because the menu is not updated when a check ends after it was opened. */
  async provideCodeActions(document: vscode.TextDocument, range: vscode.Range): Promise<FixAction[]> {
    const found = await this.#checked(document);
    if (found?.version !== document.version) return []; // positions and edits belong to an earlier text
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

  /** The edits of a fix are computed when it is chosen; most never are. */
  async resolveCodeAction(action: FixAction): Promise<FixAction> {
    const { file, fix } = action;
    const outcome =
      'edits' in fix ? { ok: true as const, edits: fix.edits } : await this.#reader.edit(file, fix.operation);
    if (outcome.ok) action.edit = toWorkspaceEdit(outcome.edits);
    else void showWarning(outcome.reason);
    return action;
  }

  dispose(): void {
    for (const key of this.#scheduled.keys()) this.#unschedule(key);
    this.#disposables.dispose();
  }

  async #checked(document: vscode.TextDocument): Promise<Found | undefined> {
    const key = document.uri.toString();
    if (this.#found.get(key)?.version !== document.version && looksLikeFlow(document)) {
      await this.#documents.read(document); // schedules the check
      await this.#scheduled.get(key)?.done.promise;
    }
    return this.#found.get(key);
  }

  #checkSoon(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    const scheduled = this.#scheduled.get(key);
    clearTimeout(scheduled?.timer);
    const done = scheduled?.done ?? Promise.withResolvers<void>();
    const check = (): void => {
      this.#check(document)
        .catch((error: unknown) => this.#log.error('a flow could not be checked', { error }))
        .finally(() => {
          if (this.#scheduled.get(key)?.timer === timer) this.#unschedule(key);
        });
    };
    const timer = setTimeout(check, AFTER_MS);
    this.#scheduled.set(key, { timer, done });
  }

  #unschedule(key: string): void {
    const scheduled = this.#scheduled.get(key);
    this.#scheduled.delete(key);
    clearTimeout(scheduled?.timer);
    scheduled?.done.resolve();
  }

  async #check(document: vscode.TextDocument): Promise<void> {
    const { version } = document;
    const found = await this.#reader.diagnose(readerPath(document));
    if (document.isClosed || document.version !== version) return; // the next reading checks again
    this.#found.set(document.uri.toString(), { version, diagnostics: found });
    this.#collection.set(document.uri, found.map(toDiagnostic));
  }

  #forget(uri: vscode.Uri): void {
    this.#unschedule(uri.toString());
    this.#found.delete(uri.toString());
    this.#collection.delete(uri);
  }
}

function toDiagnostic({ code, severity, message, range, related }: FlowDiagnostic): vscode.Diagnostic {
  const diagnostic = new vscode.Diagnostic(toRange(range), printableText(message), SEVERITIES[severity]);
  diagnostic.source = 'farwharf';
  diagnostic.code = code;
  diagnostic.relatedInformation = related.map(
    (one) =>
      new vscode.DiagnosticRelatedInformation(
        new vscode.Location(uriOf(one.range.file), toRange(one.range)),
        printableText(one.message),
      ),
  );
  return diagnostic;
}
