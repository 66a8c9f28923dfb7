import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { findLocalAddresses, type LocalAddress } from '../../jobs/ports/localAddresses.ts';
import { startedNotebook } from '../../jobs/selection/script.ts';
import { SourceFiles } from '../../jobs/source/sourceFiles.ts';
import { findReferences, type SourceReference } from '../../jobs/source/sourceReference.ts';
import type { SourceLines } from '../jobs/log/sourceLines.ts';
import { label } from '../ui/labels.ts';
import type { JobTerminals } from './jobTerminals.ts';

interface JobTerminalLink extends vscode.TerminalLink {
  readonly record: JobRecord;
  /** What it leads to: a line of code, or a page that the job serves. */
  readonly target: SourceReference | LocalAddress;
}

/**
 * Links from what a job prints in its terminal to the same lines of code in the folder that was submitted, and to the pages that the job
 * serves.
 */
export class TerminalLinks implements vscode.TerminalLinkProvider<JobTerminalLink> {
  readonly #terminals: Pick<JobTerminals, 'recordOf'>;
  readonly #lines: SourceLines;

  constructor(terminals: Pick<JobTerminals, 'recordOf'>, lines: SourceLines) {
    this.#terminals = terminals;
    this.#lines = lines;
  }

  async provideTerminalLinks({ line, terminal }: vscode.TerminalLinkContext): Promise<JobTerminalLink[]> {
    const record = this.#terminals.recordOf(terminal);
    if (record === undefined) return [];
    const files = new SourceFiles(record);
    const links: JobTerminalLink[] = [];
    for (const reference of findReferences(line, startedNotebook(record))) {
      const file = await files.find(reference.path);
      if (file === undefined) continue;
      const { start, end } = reference;
      const tooltip = label`${l10n.t('{0}:{1} in your folder', file.path, reference.line)}`;
      links.push({ startIndex: start, length: end - start, tooltip, record, target: reference });
    }
    for (const address of findLocalAddresses(line)) {
      const { start, end, port } = address;
      const tooltip = label`${l10n.t('Open port {0} of the job', port)}`;
      links.push({ startIndex: start, length: end - start, tooltip, record, target: address });
    }
    return links;
  }

  async handleTerminalLink({ record, target }: JobTerminalLink): Promise<void> {
    if ('port' in target) {
      const { port, scheme, rest } = target;
      await vscode.commands.executeCommand('farwharf.openJobPort', { id: record.id, port, scheme, rest });
      return;
    }
    const location = await this.#lines.locate(record, target, new AbortController().signal);
    if (location !== undefined) await vscode.window.showTextDocument(location.uri, { selection: location.range });
  }
}
