import { formatCount } from '../../core/text/format.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { printableLine } from '../../core/text/printable.ts';
import {
  type Decisions,
  defaultDecisions,
  type DownloadedResults,
  downloadResults,
} from '../../jobs/results/download.ts';
import { directArchiver } from '../../jobs/archives/archiver.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';
import type { RemoteClient } from '../../remote/client.ts';
import type { PlannedResult, ResultDecision } from '../../workspace/results/results.ts';
import type { Context } from '../command/context.ts';
import type { ConflictChoice } from './conflictFlag.ts';
import type { JobPlace } from '../session/jobPlace.ts';
import { Progress } from '../terminal/progress.ts';

const SHOWN_FILES = 20;

/** Downloads a job's results into a folder, with a progress bar. */
export async function bringHome(
  place: Pick<JobPlace, 'record' | 'ledger' | 'home'>,
  client: RemoteClient,
  { env, signal, terminal }: Context,
  { folder, onConflict }: { folder: string; onConflict: ConflictChoice },
): Promise<DownloadedResults> {
  const downloading = new Progress(terminal, 'downloading');
  const unpacking = new Progress(terminal, 'unpacking');
  try {
    return await downloadResults(
      {
        service: client,
        archiver: directArchiver,
        ledger: place.ledger,
        home: place.home,
        // Not the home of the place, which is removed when the verb ends.
        journals: new ResultJournals(farwharfHome(env)),
      },
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

/** The results that were written, those that were not and why, and their folder: lines for people. */
export function describeResults({ folder, plan, written, skipped, setAside, refused }: DownloadedResults): string[] {
  const statuses = new Map(plan.map(({ path, status }) => [path, status]));
  const same = skipped.filter((path) => statuses.get(path) === 'same');
  const kept = skipped.filter((path) => ['changed', 'conflict'].includes(statuses.get(path) ?? ''));
  const protectedNames = skipped.filter((path) => statuses.get(path) === 'protected');
  const shown = written.slice(0, SHOWN_FILES);
  const lines = shown.map((path) => `  + ${printableLine(path)}`);
  if (written.length > shown.length) lines.push(`  + ${formatCount(written.length - shown.length, 'more file')}`);
  lines.push(...kept.map((path) => `  = ${printableLine(path)} (your file was kept)`));
  lines.push(...describeSetAside(plan, setAside));
  lines.push(
    ...protectedNames.map((path) => `  - ${printableLine(path)} (not written: other tools read this file name)`),
  );
  lines.push(...refused.map(({ path, reason }) => `  - ${printableLine(path)} (${printableLine(reason)})`));
  if (written.length > 0) lines.push(`${formatCount(written.length, 'result')} in ${folder}`);
  else if (setAside.length > 0) lines.push(`No file in ${folder} was changed.`);
  else if (same.length > 0) lines.push(`Nothing new: ${folder} already has all the results.`);
  else lines.push('The job produced no results.');
  return lines;
}

const REVIEW_REASONS = {
  hidden: 'hidden',
  tool: 'tools read this file name',
  selection: 'changes what the next submit sends',
  protected: 'other tools read this file name',
};

/** The results that could change how tools behave or what the next submit sends: where they are, and how to use them. */
function describeSetAside(plan: DownloadedResults['plan'], setAside: DownloadedResults['setAside']): string[] {
  const [first] = setAside;
  if (first === undefined) return [];
  const reasons = new Map(plan.map(({ path, review }) => [path, review && REVIEW_REASONS[review.reason]]));
  const lines = setAside
    .slice(0, SHOWN_FILES)
    .map(({ path }) => `  ? ${printableLine(path)} (set aside: ${reasons.get(path) ?? 'chosen'})`);
  const rest = setAside.length - lines.length;
  if (rest > 0) lines.push(`  ? ${formatCount(rest, 'more file')} set aside`);
  const what = setAside.length === 1 ? 'It is' : 'They are';
  const where = first.at.split('/').slice(0, 2).join('/');
  lines.push(
    `${what} in ${printableLine(where)}, which is never sent. Compare the files, and move those that you want into place.`,
  );
  return lines;
}

/** The downloaded results as `--json` shows them. */
export function resultsAsJson({ folder, plan, written, skipped, setAside, refused }: DownloadedResults): object {
  return { folder, written, skipped, set_aside: setAside, refused, plan };
}
