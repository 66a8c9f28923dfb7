import type * as vscode from 'vscode';
import { isWorthTelling } from '../../../jobs/report/endReport.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { readSetting } from '../../contributions/config.ts';

const KEY = 'watchedJobs';
const MAX_WATCHED = 100;

/** The jobs whose log or page was opened in this window, before a reload or since. */
export class WatchedJobs {
  readonly #memento: vscode.Memento;

  constructor(memento: vscode.Memento) {
    this.#memento = memento;
  }

  has(id: string): boolean {
    return this.#watched().includes(id);
  }

  add(id: string): void {
    if (this.has(id)) return;
    void this.#memento.update(KEY, [id, ...this.#watched()].slice(0, MAX_WATCHED));
  }

  #watched(): readonly string[] {
    return this.#memento.get<readonly string[]>(KEY) ?? [];
  }
}

/** Whether the end of a job is worth a notification, as the settings ask. */
export function isWorthNotifying(record: JobRecord, watched: Pick<WatchedJobs, 'has'>): boolean {
  return isWorthTelling(record, { isWatched: watched.has(record.id), notifyAfter: readSetting('notifyAfter') });
}
