import * as vscode from 'vscode';
import { printableLine } from '../../../core/text/printable.ts';
import { isRecordId, type JobRecord } from '../../../jobs/ledger/record.ts';
import type { ColouredLines } from '../../../jobs/log/colouredLines.ts';
import type { LogLine } from '../../../jobs/log/findInLog.ts';
import { LogParts } from '../../../jobs/log/logParts.ts';
import { EventSpool } from '../../../jobs/log/spool.ts';
import { startedName } from '../../../jobs/selection/script.ts';
import { withSignal } from '../../ui/abort.ts';
import { registerGrowingDocuments } from './growingDocuments.ts';
import type { JobStore } from '../store/jobStore.ts';

export const LOG_SCHEME = 'farwharf-log';
// VS Code recognizes the language by this folder, as package.json says.
const FOLDER = '/farwharf-log/';

/** A document's part of a log, and the parts around it. */
export interface ShownPart {
  readonly id: string;
  readonly index: number;
  readonly firstLine: number;
  readonly previous: vscode.Uri | undefined;
  readonly next: vscode.Uri | undefined;
}

/** Read-only documents with the whole log of a job, in parts, so that a log of any length can be read. The last one grows with the job. */
export class LogDocuments implements vscode.Disposable {
  readonly #home: string;
  readonly #store: Pick<JobStore, 'get'>;
  readonly #colouredLines: Pick<ColouredLines, 'reader'>;
  readonly #logs = new Map<string, LogParts>();
  readonly #registration: vscode.Disposable;

  constructor(home: string, store: JobStore, colouredLines: Pick<ColouredLines, 'reader'>) {
    this.#home = home;
    this.#colouredLines = colouredLines;
    this.#store = store;
    const documents = {
      scheme: LOG_SCHEME,
      changes: (uri: vscode.Uri, ids: ReadonlySet<string>) => {
        const place = placeOf(uri);
        const isLast = place !== undefined && place.index + 1 >= (this.#logs.get(place.id)?.all.length ?? 0);
        return isLast && ids.has(place.id);
      },
      provide: (uri: vscode.Uri, token: vscode.CancellationToken) =>
        withSignal(token, (signal) => this.#read(uri, signal)),
    };
    this.#registration = registerGrowingDocuments(documents, store);
  }

  /** The job whose log a document shows. */
  recordOf(uri: vscode.Uri): JobRecord | undefined {
    const place = placeOf(uri);
    return place === undefined ? undefined : this.#store.get(place.id);
  }

  /** Undefined for a document that is not a part of a log. */
  partOf(uri: vscode.Uri): ShownPart | undefined {
    const place = placeOf(uri);
    const parts = this.#logs.get(place?.id ?? '')?.all ?? [];
    const part = parts[place?.index ?? 0];
    if (place === undefined || part === undefined) return undefined;
    const at = (index: number): vscode.Uri | undefined =>
      parts[index] === undefined ? undefined : this.#uri(place.id, index);
    return { ...place, firstLine: part.firstLine, previous: at(place.index - 1), next: at(place.index + 1) };
  }

  /** Opens the part with a line of the log, 1-based; without one, the end of the log. */
  async open({ id }: JobRecord, line: LogLine['line'] | undefined, signal: AbortSignal): Promise<void> {
    const log = this.#log(id);
    await log.update(signal);
    const index = line === undefined ? log.all.length - 1 : log.partOf(line);
    const document = await vscode.workspace.openTextDocument(this.#uri(id, index));
    const row = line === undefined ? document.lineCount - 1 : line - (log.all[index]?.firstLine ?? 1);
    const at = new vscode.Position(Math.max(0, row), 0);
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
  }

  /** The events of a job's log. */
  spool(id: string): EventSpool {
    return new EventSpool(this.#home, id);
  }

  dispose(): void {
    this.#registration.dispose();
  }

  async #read(uri: vscode.Uri, signal: AbortSignal): Promise<string> {
    const place = placeOf(uri);
    if (place === undefined) return '';
    const log = this.#log(place.id);
    await log.update(signal);
    return log.read(place.index, signal, this.#colouredLines.reader());
  }

  #log(id: string): LogParts {
    const machine = this.#store.get(id)?.machineClass ?? undefined;
    const log = this.#logs.get(id) ?? new LogParts(this.spool(id), machine === undefined ? {} : { machine });
    this.#logs.set(id, log);
    return log;
  }

  #uri(id: string, index: number): vscode.Uri {
    const record = this.#store.get(id);
    const program = record && (record.command?.[0] ?? startedName(record));
    const name = printableLine(program?.split('/').at(-1) ?? '');
    return vscode.Uri.from({
      scheme: LOG_SCHEME,
      path: `${FOLDER}${name} (part ${index + 1}).log`,
      query: `${id}/${index}`,
    });
  }
}

/** The job and the part that an address names. Any extension can open one; only the ID of a job leads to a file. */
function placeOf({ scheme, query }: vscode.Uri): { readonly id: string; readonly index: number } | undefined {
  const [id = '', index = ''] = query.split('/');
  return scheme === LOG_SCHEME && isRecordId(id) && /^\d{1,6}$/.test(index) ? { id, index: Number(index) } : undefined;
}
