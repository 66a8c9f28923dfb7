import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { findLines, type LogSearchDeps } from './logSearch.ts';
import type { Commands } from '../../contributions/commands.ts';
import { readJobArgument } from '../../contributions/jobArgument.ts';
import { findOrPickJob, jobCommand, type JobFinder } from '../list/jobCommand.ts';
import { AppError } from '../../../core/errors.ts';
import { writeAtomically } from '../../../core/files/atomicFile.ts';
import { diskError } from '../../../core/files/diskSpace.ts';
import { wholeLog } from '../../../jobs/log/viewText.ts';
import { shownScript, startedName } from '../../../jobs/selection/script.ts';
import { showCancellable, showInformation } from '../../ui/show.ts';
import type { JobEventDocuments } from './jobEvents.ts';
import type { JobLog } from './jobLog.ts';
import type { LogDocuments } from './logDocuments.ts';
import { findInLog, isErrorLine } from '../../../jobs/log/findInLog.ts';

interface LogCommandDeps extends JobFinder, LogSearchDeps {
  readonly jobLog: Pick<JobLog, 'show'>;
  readonly events: Pick<JobEventDocuments, 'show'>;
}

export function logCommands(deps: LogCommandDeps) {
  const { events, jobLog, logDocuments, signal } = deps;
  /** A command on the log of one job: the one that the argument names, the one in the active editor, or one that the user picks. */
  const logCommand = (title: string, run: (record: JobRecord) => unknown) => async (argument: unknown) => {
    const active = vscode.window.activeTextEditor?.document.uri;
    const shownId = active && logDocuments.recordOf(active)?.id;
    const record = await findOrPickJob(deps, readJobArgument(argument) ?? shownId, { title });
    return record === undefined ? undefined : run(record);
  };
  return {
    'farwharf.showLog': jobCommand(deps, {
      title: l10n.t('Show Log'),
      run: (record) => jobLog.show(record, { reveal: true }),
    }),
    'farwharf.showEvents': jobCommand(deps, { title: l10n.t('Show Events'), run: (record) => events.show(record) }),
    'farwharf.openFullLog': logCommand(l10n.t('Open Full Log'), (record) =>
      logDocuments.open(record, undefined, signal),
    ),
    'farwharf.findInLog': logCommand(l10n.t('Find in Log'), (record) => findLines(deps, record)),
    'farwharf.showFirstError': logCommand(l10n.t('Show First Error in Log'), (record) =>
      openFirstError(logDocuments, record),
    ),
    'farwharf.saveLog': logCommand(l10n.t('Save Log'), (record) => saveWholeLog(logDocuments, record)),
  } satisfies Partial<Commands<'jobs'>>;
}

/** Saves the whole log of a job as a text file, whose path the user chooses. Returns the path; undefined if the user cancelled. */
async function saveWholeLog(logDocuments: LogDocuments, record: JobRecord): Promise<string | undefined> {
  const name = `${basename(record.command?.[0] ?? startedName(record))}.log`;
  const target = await vscode.window.showSaveDialog({
    title: l10n.t('Save Log'),
    defaultUri: vscode.Uri.file(join(record.folder, name)),
    filters: { [l10n.t('Log')]: ['log', 'txt'] },
  });
  if (target === undefined) return undefined;
  if (target.scheme !== 'file') throw new AppError('bad-input', l10n.t('Choose a file on this machine for the log.'));
  await showCancellable(l10n.t('Saving the log'), async (signal) => {
    try {
      await writeAtomically(target.fsPath, wholeLog(logDocuments.spool(record.id), signal), { mode: 0o666 });
    } catch (error) {
      throw diskError(error, target.fsPath);
    }
  });
  return target.fsPath;
}

/** Opens a job's log at the first line that reports an error. */
async function openFirstError(logDocuments: LogDocuments, record: JobRecord): Promise<void> {
  const isFound = await showCancellable(l10n.t('Reading the log'), async (signal) => {
    for await (const { line } of findInLog(logDocuments.spool(record.id), isErrorLine, signal)) {
      await logDocuments.open(record, line, signal);
      return true;
    }
    return false;
  });
  if (!isFound) void showInformation(l10n.t('No line in the log of {0} reports an error.', shownScript(record.script)));
}
