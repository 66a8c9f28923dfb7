import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { DisposableStore, type Disposable } from '../../core/processes/lifetime.ts';
import { printableLine, printableText } from '../../core/text/printable.ts';
import { checkProfile, type ProfileSurroundings } from '../../jobs/profiles/checkProfile.ts';
import { parseProfiles, PROFILE_FILE, type ProfileProblem } from '../../jobs/profiles/profileFile.ts';
import { isRegularFile } from '../../workspace/files/boundedRead.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { diskFolders } from '../workspace/folders.ts';
import { formatCredits } from '../../core/text/format.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';
import { hostLabel } from '../ui/words.ts';

// Long enough to finish typing a word before it is checked.
const AFTER_MS = 300;
const SELECTOR: vscode.DocumentSelector = { scheme: 'file', pattern: `**/${PROFILE_FILE}` };
const FIELD = /"(machineClass|service)"\s*:\s*("[^"]*)?$/;

/** Whether a document is the file of profiles of a folder of this window. */
function isProfileFile({ uri }: vscode.TextDocument): boolean {
  const folder = dirname(uri.fsPath);
  return basename(uri.fsPath) === PROFILE_FILE && diskFolders().some((one) => one.uri.fsPath === folder);
}

/** Shows the actions of each profile, completes names of the service, and marks what would make a submit fail. */
export class ProfileEditor implements vscode.CodeLensProvider, Disposable {
  readonly #services: SubmitDeps;
  readonly #warnings = vscode.languages.createDiagnosticCollection('farwharf profiles');
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #disposables = new DisposableStore();

  constructor(services: SubmitDeps) {
    this.#services = services;
    const checkAll = (): void => vscode.workspace.textDocuments.forEach((document) => this.#checkSoon(document));
    for (const one of [
      this.#warnings,
      vscode.languages.registerCodeLensProvider(SELECTOR, this),
      vscode.languages.registerCompletionItemProvider(
        SELECTOR,
        { provideCompletionItems: (document, position) => completeProfile(services, document, position) },
        '"',
      ),
      vscode.workspace.onDidOpenTextDocument((document) => this.#checkSoon(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#checkSoon(document)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#warnings.delete(uri)),
      services.account.onDidChange(checkAll),
    ]) {
      this.#disposables.add(one);
    }
    checkAll();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (!isProfileFile(document)) return [];
    return parseProfiles(document.getText()).profiles.flatMap(({ name, start }) => {
      const at = document.positionAt(start);
      const target = { folder: dirname(document.uri.fsPath), profile: name };
      const lens = (title: string, tooltip: string, argument: object): vscode.CodeLens =>
        new vscode.CodeLens(new vscode.Range(at, at), {
          title,
          tooltip,
          command: 'farwharf.submitProfile',
          arguments: [argument],
        });
      return [
        lens(`$(rocket) ${l10n.t('Submit')}`, l10n.t('Submit {0} as a job', name), target),
        lens(`$(checklist) ${l10n.t('Preview')}`, l10n.t('Show what {0} sends and costs', name), {
          ...target,
          lookFirst: true,
        }),
      ];
    });
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#disposables.dispose();
  }

  #checkSoon(document: vscode.TextDocument): void {
    if (!isProfileFile(document)) return;
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    const check = (): void => {
      this.#timers.delete(key);
      this.#check(document).catch((error: unknown) =>
        this.#services.log.error('profiles could not be checked', { error }),
      );
    };
    this.#timers.set(key, setTimeout(check, AFTER_MS));
  }

  async #check(document: vscode.TextDocument): Promise<void> {
    const { version } = document;
    const surroundings = await this.#surroundings(dirname(document.uri.fsPath));
    const { profiles } = parseProfiles(document.getText());
    const found = await Promise.all(profiles.map((profile) => checkProfile(profile, surroundings)));
    if (document.isClosed || document.version !== version) return; // a later check follows
    const toDiagnostic = ({ message, start, end }: ProfileProblem): vscode.Diagnostic => {
      const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
      const diagnostic = new vscode.Diagnostic(range, printableText(message), vscode.DiagnosticSeverity.Warning);
      diagnostic.source = 'farwharf';
      return diagnostic;
    };
    this.#warnings.set(document.uri, found.flat().map(toDiagnostic));
  }

  async #surroundings(folder: string): Promise<ProfileSurroundings> {
    const { account, hosts, ledger } = this.#services;
    const current = hosts.currentIfUsable();
    return {
      current,
      hosts: [...(current === undefined ? [] : [current]), ...(await ledger.hosts())],
      classesOf: (host) => {
        const classes = (account.last(host)?.rates ?? []).map(({ machineClass }) => machineClass);
        return classes.length === 0 || classes.includes(null) ? undefined : classes.filter((name) => name !== null);
      },
      hasFile: (path) => isRegularFile(join(folder, path), Number.MAX_SAFE_INTEGER),
    };
  }
}

/** Completes machine classes, with their prices on the selected host, and the names of services. */
async function completeProfile(
  { account, hosts, ledger }: SubmitDeps,
  document: vscode.TextDocument,
  position: vscode.Position,
): Promise<vscode.CompletionItem[]> {
  const before = document.lineAt(position).text.slice(0, position.character);
  const [, field, typed = ''] = FIELD.exec(before) ?? [];
  const current = hosts.currentIfUsable();
  if (field === undefined || current === undefined) return [];
  const start = position.translate(0, -typed.length);
  const rest = /^[^",}]*"?/.exec(document.lineAt(position).text.slice(position.character))?.[0].length ?? 0;
  const range = new vscode.Range(start, typed === '' ? position : position.translate(0, rest));
  const item = (name: string, detail: string, index: number): vscode.CompletionItem => {
    const text = JSON.stringify(name);
    const completion = new vscode.CompletionItem(printableLine(text), vscode.CompletionItemKind.EnumMember);
    return Object.assign(completion, {
      detail: printableLine(detail),
      insertText: text,
      filterText: text,
      sortText: String(index).padStart(4, '0'),
      range,
    });
  };
  if (field === 'service') {
    const known = new Set([LOCAL_HOST, current, ...(await ledger.hosts())]);
    return [...known].map((host, index) =>
      item(host === LOCAL_HOST ? host : hostLabel(host), host === current ? l10n.t('selected') : '', index),
    );
  }
  return (account.last(current)?.rates ?? []).flatMap((rate, index) => {
    const { machineClass, creditsPerMinute, description } = rate;
    if (machineClass === null) return [];
    const price =
      creditsPerMinute === null
        ? l10n.t('no price on {0}', hostLabel(current))
        : l10n.t('{0} credits a minute on {1}', formatCredits(creditsPerMinute), hostLabel(current));
    return item(machineClass, description ? `${price} · ${description}` : price, index);
  });
}
