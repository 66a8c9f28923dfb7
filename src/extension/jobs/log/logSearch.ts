import { setTimeout as sleep } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../../contributions/parts.ts';
import { formatInteger } from '../../../core/text/format.ts';
import { isAbort } from '../../../core/errors.ts';
import { DisposableStore } from '../../../core/processes/lifetime.ts';
import { printable, printableLine } from '../../../core/text/printable.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { containing, findInLog } from '../../../jobs/log/findInLog.ts';
import { shownScript } from '../../../jobs/selection/script.ts';
import { acceptedRow, createPick, type PickItem } from '../../ui/show.ts';
import type { LogDocuments } from './logDocuments.ts';

const MAX_ROWS = 500;
// A search reads the whole log, so it waits until the typing pauses.
const PAUSE_MS = 150;

export interface LogSearchDeps extends Pick<WindowParts, 'log' | 'signal'> {
  readonly logDocuments: LogDocuments;
}

/** A row of the list: a line of the log, or a remark without one. */
interface LineItem extends PickItem {
  readonly line?: number;
}

/** Lists the lines of a job's whole log that contain what the user types, and opens the one that is chosen. */
export async function findLines({ logDocuments, log, signal }: LogSearchDeps, record: JobRecord): Promise<void> {
  const pick = createPick<LineItem>();
  pick.title = printable`${l10n.t('Find in the log of {0}', shownScript(record.script))}`;
  pick.placeholder = printable`${l10n.t('Text to find in the whole log')}`;
  // Otherwise VS Code sorts the rows by where the text is in them.
  Object.assign(pick, { sortByLabel: false });
  const disposables = new DisposableStore();
  let typing = new AbortController();
  const search = async (text: string): Promise<void> => {
    typing.abort();
    typing = new AbortController();
    const stop = AbortSignal.any([typing.signal, signal]);
    try {
      await sleep(PAUSE_MS, undefined, { signal: stop });
      pick.busy = text !== '';
      const rows = text === '' ? [] : await rowsFor(logDocuments, record, text, stop);
      if (!stop.aborted) pick.items = rows;
    } catch (error) {
      if (isAbort(error)) return;
      log.error('a log could not be searched', { id: record.id, error });
      pick.items = [
        {
          label: printable`${l10n.t('The log cannot be read. See the extension log for the reason.')}`,
          alwaysShow: true,
        },
      ];
    }
    pick.busy = false;
  };
  let latest = Promise.resolve();
  let running = 0;
  const closed = Promise.withResolvers<number | undefined>();
  // Enter right after the last letter means the first line with the whole text, not one of the rows of an earlier text.
  const accept = async (): Promise<void> => {
    const isEarly = running > 0;
    if (isEarly) await latest;
    if (running > 0) return accept();
    const line = (isEarly ? pick.items[0] : acceptedRow(pick))?.line;
    if (line === undefined) return undefined;
    closed.resolve(line);
    return pick.hide();
  };
  for (const item of [
    pick,
    pick.onDidChangeValue((text) => {
      running += 1;
      latest = search(text).finally(() => (running -= 1));
    }),
    pick.onDidAccept(() => void accept()),
    pick.onDidHide(() => closed.resolve(undefined)),
  ]) {
    disposables.add(item);
  }
  pick.show();
  const line = await closed.promise;
  typing.abort();
  disposables.dispose();
  if (line !== undefined) await logDocuments.open(record, line, signal);
}

async function rowsFor(
  documents: LogDocuments,
  { id }: JobRecord,
  text: string,
  signal: AbortSignal,
): Promise<LineItem[]> {
  const rows: LineItem[] = [];
  for await (const { line, text: found } of findInLog(documents.spool(id), containing(text), signal)) {
    if (rows.length === MAX_ROWS) {
      const remark = printable`${l10n.t('Only the first {0} lines are listed. Type more to narrow the search.', MAX_ROWS)}`;
      return [...rows, { label: remark, alwaysShow: true }];
    }
    const label = printableLine(found.trim().slice(0, 300));
    rows.push({
      label,
      description: printable`${l10n.t('line {0}', formatInteger(line))}`,
      alwaysShow: true,
      line,
    });
  }
  return rows.length > 0 ? rows : [{ label: printable`${l10n.t('No line contains this text')}`, alwaysShow: true }];
}
