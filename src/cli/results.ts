import { formatCount } from '../core/format.ts';
import { plainText } from '../core/terminalText.ts';
import { type Decisions, defaultDecisions, type DownloadedResults, downloadResults } from '../jobs/download.ts';
import { directArchiver } from '../jobs/archiver.ts';
import type { RemoteClient } from '../remote/client.ts';
import type { PlannedResult, ResultDecision } from '../workspace/results.ts';
import type { Context } from './context.ts';
import type { JobPlace } from './jobPlace.ts';
import { Progress } from './progress.ts';

/** What to do when a result and a local file have one name. */
export type ConflictChoice = 'keep-both' | 'overwrite' | 'skip';

const SHOWN_FILES = 20;

/** Downloads a job's results into a folder, with a progress bar. */
export async function bringHome(
  place: Pick<JobPlace, 'record' | 'ledger' | 'home'>,
  client: RemoteClient,
  { signal, terminal }: Context,
  { folder, onConflict }: { folder: string; onConflict: ConflictChoice },
): Promise<DownloadedResults> {
  const downloading = new Progress(terminal, 'downloading');
  const unpacking = new Progress(terminal, 'unpacking');
  try {
    return await downloadResults(
      { service: client, archiver: directArchiver, ledger: place.ledger, home: place.home },
      place.record.id,
      {
        folder,
        signal,
        decide: (plan) => decide(plan, onConflict),
        onPhase: (phase) => {
          if (phase.type === 'download') downloading.update(phase.doneBytes, phase.totalBytes);
          if (phase.type === 'unpack') unpacking.update(phase.doneBytes, phase.totalBytes);
        },
      },
    );
  } finally {
    terminal.clearStatus();
  }
}

/** The decision for each result. Protected names are never written from the command line. */
export function decide(plan: readonly PlannedResult[], onConflict: ConflictChoice): Decisions {
  const decisions = new Map(defaultDecisions(plan));
  if (onConflict === 'keep-both') return decisions;
  const decision: ResultDecision = onConflict === 'overwrite' ? 'write' : 'skip';
  for (const { path, status } of plan) {
    if (status === 'changed' || status === 'conflict') decisions.set(path, decision);
  }
  return decisions;
}

/** What came home, what did not and why, and where it lies: lines for people. */
export function describeResults({ folder, plan, written, skipped, refused }: DownloadedResults): string[] {
  const statuses = new Map(plan.map(({ path, status }) => [path, status]));
  const same = skipped.filter((path) => statuses.get(path) === 'same');
  const kept = skipped.filter((path) => ['changed', 'conflict'].includes(statuses.get(path) ?? ''));
  const protectedNames = skipped.filter((path) => statuses.get(path) === 'protected');
  const shown = written.slice(0, SHOWN_FILES);
  const lines = shown.map((path) => `  + ${plainText(path)}`);
  if (written.length > shown.length) lines.push(`  + ${formatCount(written.length - shown.length, 'more file')}`);
  lines.push(...kept.map((path) => `  = ${plainText(path)} (yours stays)`));
  lines.push(...protectedNames.map((path) => `  - ${plainText(path)} (not written: other tools act on this name)`));
  lines.push(...refused.map(({ path, reason }) => `  - ${plainText(path)} (${plainText(reason)})`));
  if (written.length > 0) lines.push(`${formatCount(written.length, 'result')} in ${folder}`);
  else if (same.length > 0) lines.push(`Nothing new: ${folder} has all the results already.`);
  else lines.push('The job left no results.');
  return lines;
}

/** The same for programs. */
export function resultsAsJson({ folder, plan, written, skipped, refused }: DownloadedResults): object {
  return { folder, written, skipped, refused, plan };
}
