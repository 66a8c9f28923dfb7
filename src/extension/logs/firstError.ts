import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { findInLog, isErrorLine } from '../../jobs/logView/findInLog.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import { showCancellable, showInformation } from '../ui/show.ts';
import type { LogDocuments } from './logDocuments.ts';

/** Opens a job's log at the first line that reports an error. */
export async function openFirstError(
  { logDocuments }: { readonly logDocuments: LogDocuments },
  record: JobRecord,
): Promise<void> {
  const isFound = await showCancellable(l10n.t('Reading the log'), async (signal) => {
    for await (const { line } of findInLog(logDocuments.spool(record.id), isErrorLine, signal)) {
      await logDocuments.open(record, line, signal);
      return true;
    }
    return false;
  });
  if (!isFound) void showInformation(l10n.t('No line in the log of {0} reports an error.', shownScript(record.script)));
}
