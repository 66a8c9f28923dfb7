import { resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { FileChange } from '../../jobs/archives/fileChanges.ts';
import { SubmittedFiles } from '../../jobs/archives/submittedFiles.ts';
import { Progress } from '../terminal/progressLine.ts';
import type { Context } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';
import { directArchiver } from '../../jobs/archives/archiver.ts';
import { restoreFiles } from '../../jobs/results/restoreFiles.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';
import type { RestoreConflictChoice } from '../command/flags.ts';
import { describeResults, resultPath, resultsAsJson } from './jobResults.ts';

// As in `git status`.
const LETTERS: Readonly<Record<FileChange['type'], string>> = { added: 'A', changed: 'M', deleted: 'D' };

/**
 * `farwharf diff ID [OTHER]`: which files of the folder have changed since a job was submitted, or from the files of one job to those of
 * another. JSON: `{ from, to, changes: [{ path, type }] }`, where `to` is null for the folder.
 */
export async function diff(
  context: Context,
  name: string,
  _flags: unknown,
  [otherName]: readonly string[],
): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const submitted = new SubmittedFiles(session.home);
  const record = recordNamed(session, name);
  const other = otherName === undefined ? undefined : recordNamed(session, otherName);
  let changes: readonly FileChange[];
  if (other === undefined) {
    const progress = new Progress(terminal, 'comparing');
    const onProgress = progress.update.bind(progress);
    try {
      changes = await submitted.changesSince(record.id, record.folder, { isTrusted: true, signal, onProgress });
    } finally {
      terminal.clearStatus();
    }
  } else changes = await submitted.changesBetween(record.id, other.id);
  if (terminal.json({ from: record.jobId, to: other?.jobId ?? null, changes })) return;
  for (const { path, type } of changes) terminal.answer(`${LETTERS[type]}  ${printableLine(path)}`);
  const between =
    other === undefined ? `in ${record.folder} since job ${name}` : `from job ${name} to job ${otherName}`;
  terminal.note(`${changes.length === 0 ? 'No file' : formatCount(changes.length, 'file')} changed ${between}.`);
}

/** The record of a job. @throws AppError `missing` for a job that was sent from elsewhere. */
export function recordNamed(session: Session, name: string): JobRecord {
  const { record } = session.resolveJob(name);
  if (record !== undefined) return record;
  throw new AppError(
    'missing',
    `Job ${printableLine(name)} was not sent from this machine, so its files are not known. List the jobs sent from this machine:  farwharf jobs`,
  );
}

/** `farwharf restore ID [PATH...]`: writes files as they were submitted with a job. JSON as for `download`. */
export async function restoreSubmitted(
  context: Context,
  name: string,
  { into, onConflict }: { readonly into?: string | undefined; readonly onConflict: RestoreConflictChoice },
  paths: readonly string[],
): Promise<void> {
  await using session = new Session(context);
  const { terminal, cwd, signal } = context;
  const record = recordNamed(session, name);
  const progress = new Progress(terminal, 'unpacking');
  const deps = { archiver: directArchiver, journals: new ResultJournals(session.home), home: session.home };
  try {
    const choice = { paths: paths.map(resultPath).filter((path) => path !== ''), onConflict };
    const restored = await restoreFiles(deps, record, choice, {
      ...(into !== undefined && { folder: resolve(cwd, into) }),
      signal,
      onPhase: (phase) => {
        if (phase.type === 'unpack') progress.update(phase.doneBytes, phase.totalBytes);
      },
    });
    terminal.json({ job_id: record.jobId, ...resultsAsJson(restored) });
    for (const line of describeResults(restored, 'file')) terminal.note(line);
  } finally {
    terminal.clearStatus();
  }
}
