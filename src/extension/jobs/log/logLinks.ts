import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { findLocalAddresses, type LocalAddress } from '../../../jobs/ports/localAddresses.ts';
import { SourceFiles } from '../../../jobs/source/sourceFiles.ts';
import { startedNotebook } from '../../../jobs/selection/script.ts';
import { findReferences, type SourceReference } from '../../../jobs/source/sourceReference.ts';
import { label } from '../../ui/labels.ts';
import { withSignal } from '../../ui/abort.ts';
import { MARK } from '../../../jobs/log/viewText.ts';
import { DOWNLOAD } from './jobLog.ts';
import { OPEN_FULL_LOG } from './logTail.ts';
import type { CommandId } from '../../contributions/names.ts';
import type { SourceLines } from './sourceLines.ts';

// Only the newest links are shown, because a log with a link in each line would take seconds to lay out.
const MAX_LINKS = 2_000;
// About 10 ms of the extension host. Only a log that is already longer when it is opened has earlier lines, which get no links.
const MAX_ROWS_AT_ONCE = 20_000;

interface PlacedReference {
  readonly row: number;
  readonly reference: SourceReference;
}

interface PlacedAddress {
  readonly row: number;
  readonly address: LocalAddress;
}

/** A link to a line of code, whose place is found when it is opened. */
class LogLink extends vscode.DocumentLink {
  readonly record: JobRecord;
  readonly reference: SourceReference;

  constructor(range: vscode.Range, record: JobRecord, reference: SourceReference) {
    super(range);
    this.record = record;
    this.reference = reference;
  }
}

/**
 * Links from the job log to the lines of code that it names, to the pages that the job serves, and to the download at its end. The log only
 * grows, so each line is searched once.
 */
export class LogLinks implements vscode.DocumentLinkProvider {
  readonly #recordOf: (document: vscode.TextDocument) => JobRecord | undefined;
  readonly #lines: SourceLines;
  #references: PlacedReference[] = [];
  #addresses: PlacedAddress[] = [];
  #searchedRows = 0;
  #lastText = '';
  #lastDocument = '';

  /** @param recordOf the job whose log a document shows. */
  constructor(recordOf: (document: vscode.TextDocument) => JobRecord | undefined, lines: SourceLines) {
    this.#recordOf = recordOf;
    this.#lines = lines;
  }

  async provideDocumentLinks(document: vscode.TextDocument): Promise<vscode.DocumentLink[]> {
    const record = this.#recordOf(document);
    if (record === undefined) return [];
    this.#search(document, startedNotebook(record));
    const files = new SourceFiles(record);
    const addresses = this.#addresses.map(({ row, address }) => addressLink(row, address, record));
    const links: vscode.DocumentLink[] = [...commandLinks(document, record), ...addresses];
    for (const { row, reference } of this.#references) {
      const file = await files.find(reference.path);
      if (file === undefined) continue;
      const link = new LogLink(new vscode.Range(row, reference.start, row, reference.end), record, reference);
      const { cell, line } = reference;
      const place = cell === undefined ? `${file.path}:${line}` : l10n.t('{0}, cell {1}', file.path, cell);
      link.tooltip =
        file.isChanged && cell === undefined
          ? label`${l10n.t('{0}:{1}, changed since the job was submitted', file.path, line)}`
          : label`${place}`;
      links.push(link);
    }
    return links;
  }

  async resolveDocumentLink(link: vscode.DocumentLink, token: vscode.CancellationToken): Promise<vscode.DocumentLink> {
    if (!(link instanceof LogLink)) return link;
    const location = await withSignal(token, (signal) => this.#lines.locate(link.record, link.reference, signal));
    if (location === undefined) return link;
    const { line, character } = location.range.start;
    // The fragment of a cell's address is its number.
    const isCell = link.reference.cell !== undefined;
    link.target = isCell ? location.uri : location.uri.with({ fragment: `L${line + 1},${character + 1}` });
    return link;
  }

  /** Searches the complete lines that were added since the last call. */
  #search(document: vscode.TextDocument, notebook: string | undefined): void {
    const rows = document.lineCount - 1;
    const isContinued =
      this.#searchedRows > 0 &&
      document.uri.toString() === this.#lastDocument &&
      rows >= this.#searchedRows &&
      document.lineAt(this.#searchedRows - 1).text === this.#lastText;
    if (!isContinued) [this.#references, this.#addresses, this.#searchedRows] = [[], [], 0];
    for (let row = Math.max(this.#searchedRows, rows - MAX_ROWS_AT_ONCE); row < rows; row += 1) {
      this.#lastText = document.lineAt(row).text;
      for (const reference of findReferences(this.#lastText, notebook)) this.#references.push({ row, reference });
      for (const address of findLocalAddresses(this.#lastText)) this.#addresses.push({ row, address });
    }
    this.#searchedRows = rows;
    this.#lastDocument = document.uri.toString();
    this.#references = this.#references.slice(-MAX_LINKS);
    this.#addresses = this.#addresses.slice(-MAX_LINKS);
  }
}

/** A link in place of VS Code's own, which would lead to the user's machine: what `localhost` is for the job is the job's machine. */
function addressLink(row: number, address: LocalAddress, { id }: JobRecord): vscode.DocumentLink {
  const { start, end, port, scheme, rest } = address;
  const link = new vscode.DocumentLink(
    new vscode.Range(row, start, row, end),
    commandUri('farwharf.openJobPort', { id, port, scheme, rest }),
  );
  link.tooltip = label`${l10n.t('Open port {0} of the job', port)}`;
  return link;
}

/** The link at the end of the last line of a job that has results, and the one at the start of a log that is cut. */
function commandLinks(document: vscode.TextDocument, record: JobRecord): vscode.DocumentLink[] {
  return [
    ...commandLink(document, document.lineCount - 2, DOWNLOAD, record, 'farwharf.downloadResults'), // the text ends with a line feed
    ...commandLink(document, 1, OPEN_FULL_LOG, record, 'farwharf.openFullLog'),
  ];
}

function commandLink(
  document: vscode.TextDocument,
  row: number,
  words: string,
  { id }: JobRecord,
  command: CommandId,
): vscode.DocumentLink[] {
  if (row < 0 || row >= document.lineCount) return [];
  const { text } = document.lineAt(row);
  if (!text.startsWith(MARK) || !text.endsWith(`: ${words}`)) return [];
  const range = new vscode.Range(row, text.length - words.length, row, text.length);
  return [new vscode.DocumentLink(range, commandUri(command, id))];
}

function commandUri(command: CommandId, argument: unknown): vscode.Uri {
  return vscode.Uri.parse(`command:${command}?${encodeURIComponent(JSON.stringify([argument]))}`);
}
