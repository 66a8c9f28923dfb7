import * as vscode from 'vscode';
import { printableLine } from '../../../core/text/printable.ts';
import { isRecordId, type JobRecord } from '../../../jobs/ledger/record.ts';
import { EventSpool } from '../../../jobs/log/spool.ts';
import { registerGrowingDocuments } from './growingDocuments.ts';
import type { JobStore } from '../store/jobStore.ts';

const SCHEME = 'farwharf-events';
// A longer text would cost more memory than anyone reads of it.
const MAX_CHARACTERS = 4_000_000;

/**
 * Read-only documents with the events of a job as received, one JSON object per line: the last 4 million characters of them. They grow
 * while the job runs.
 */
export class JobEventDocuments implements vscode.Disposable {
  readonly #home: string;
  readonly #registration: vscode.Disposable;

  constructor(home: string, store: JobStore) {
    this.#home = home;
    const documents = {
      scheme: SCHEME,
      changes: ({ query }: vscode.Uri, ids: ReadonlySet<string>) => ids.has(query),
      provide: ({ query }: vscode.Uri) => this.#read(query),
    };
    this.#registration = registerGrowingDocuments(documents, store);
  }

  async #read(query: string): Promise<string> {
    // Any extension can open such a URI; only the ID of a job leads to a file.
    if (!isRecordId(query)) return '';
    const spool = new EventSpool(this.#home, query);
    const after = Math.max(0, (await spool.size()) - MAX_CHARACTERS);
    const lines: string[] = after > 0 ? [JSON.stringify({ event: 'omitted', data: { bytes: after } })] : [];
    for await (const event of spool.read({ after })) lines.push(printableLine(JSON.stringify(event)));
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }

  async show(record: JobRecord): Promise<void> {
    const name = `${record.jobId ?? record.id}.events.jsonl`;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: record.id });
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  dispose(): void {
    this.#registration.dispose();
  }
}
