import { resolve } from 'node:path';
import { directArchiver } from '../../jobs/archives/archiver.ts';
import { restoreFiles } from '../../jobs/results/restoreFiles.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';
import type { Context } from '../command/context.ts';
import { Session } from '../session/session.ts';
import { Progress } from '../terminal/progress.ts';
import type { ConflictChoice } from './conflictFlag.ts';
import { recordOf } from './diff.ts';
import { describeResults, resultPath, resultsAsJson } from './results.ts';

/** `farwharf restore ID [PATH...]`: writes files as they were submitted with a job. JSON as for `download`. */
export async function restore(
  context: Context,
  name: string,
  { into, onConflict }: { readonly into?: string | undefined; readonly onConflict: ConflictChoice },
  paths: readonly string[],
): Promise<void> {
  await using session = new Session(context);
  const { terminal, cwd, signal } = context;
  const record = recordOf(session, name);
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
