import { resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { jobArgument } from '../command/jobArgument.ts';
import { browseResults, takeResults } from '../../jobs/results/browse.ts';
import { BrowsedResults } from '../../jobs/results/browsedResults.ts';
import { downloadResults } from '../../jobs/results/resultDownload.ts';
import {
  type CheckedFolder,
  type Decisions,
  defaultDecisions,
  keepBothDecisions,
  type DownloadedResults,
  type DownloadPhase,
} from '../../jobs/results/placeFiles.ts';
import { directArchiver } from '../../jobs/archives/archiver.ts';
import { DEFAULT_RESULT_GB, resultLimits } from '../../jobs/results/resultLimits.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';
import type { RemoteClient } from '../../remote/client.ts';
import type { PlannedResult, ResultDecision } from '../../workspace/results/applyResults.ts';
import type { Context } from '../command/commandContext.ts';
import type { ConflictChoice } from '../command/flags.ts';
import { findJobPlace, type JobPlace } from '../command/jobPlace.ts';
import { Progress } from '../terminal/progressLine.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { resultsFolderOf } from '../../jobs/results/resultsFolder.ts';
import { Session } from '../command/session.ts';

const SHOWN_FILES = 20;

/** Progress bars of a download and of reading its archive. Call `end` afterwards. */
export function transferProgress(terminal: Terminal): {
  readonly onPhase: (phase: DownloadPhase) => void;
  readonly end: () => void;
} {
  const downloading = new Progress(terminal, 'downloading');
  const unpacking = new Progress(terminal, 'unpacking');
  return {
    onPhase(phase) {
      if (phase.type === 'whole') terminal.note(phase.reason);
      if (phase.type === 'download') downloading.update(phase.doneBytes, phase.totalBytes);
      if (phase.type === 'unpack') unpacking.update(phase.doneBytes, phase.totalBytes);
    },
    end: () => terminal.clearStatus(),
  };
}

/** The path of a result as an index names it: `out` for `./out/`. */
export function resultPath(path: string): string {
  const names = path.split('/').filter((part) => part !== '' && part !== '.');
  return names.join('/');
}

/**
 * Downloads a job's results into a folder, with a progress bar.
 *
 * @param options.only the files and folders to write; everything if empty.
 * @param options.maxSize the most GB that all results may unpack to.
 * @throws AppError `missing` if the job has no result with one of these paths; as `downloadResults`.
 */
export async function downloadInto(
  place: Pick<JobPlace, 'record' | 'ledger' | 'home'>,
  client: RemoteClient,
  { env, signal, terminal }: Context,
  {
    folder,
    onConflict,
    only = [],
    maxSize = DEFAULT_RESULT_GB,
  }: { folder: string | CheckedFolder; onConflict: ConflictChoice; only?: readonly string[]; maxSize?: number },
): Promise<DownloadedResults> {
  const { record, ledger, home } = place;
  const { onPhase, end } = transferProgress(terminal);
  const deps = {
    service: client,
    archiver: directArchiver,
    ledger,
    home,
    limits: resultLimits(maxSize, `Raise the limit, such as with: farwharf download --max-size ${2 * maxSize}`),
    // Not the home of the place, because that is removed when the verb ends.
    journals: new ResultJournals(farwharfHome(env)),
  };
  const decideAll = (plan: readonly PlannedResult[]): Decisions => decide(plan, onConflict);
  const options = { folder, signal, decide: decideAll, onPhase };
  try {
    if (only.length === 0) return await downloadResults(deps, record.id, options);
    const browsed = new BrowsedResults(home);
    await browseResults({ ...deps, browsed }, record, { signal, onPhase });
    for (const path of only)
      if ((await browsed.find(record.id, resultPath(path))) === undefined)
        throw new AppError('missing', `The job has no result ${printableLine(path)}.`);
    return await takeResults({ ...deps, browsed }, record, only.map(resultPath), options);
  } finally {
    end();
  }
}

/** The decision for each result. Protected names are never written from the command line. */
export function decide(plan: readonly PlannedResult[], onConflict: ConflictChoice): Decisions {
  if (onConflict === 'merge') return defaultDecisions(plan);
  const decisions = new Map(keepBothDecisions(plan));
  if (onConflict === 'keep-both') return decisions;
  const decision: ResultDecision = onConflict === 'overwrite' ? 'write' : 'skip';
  for (const { path, status } of plan) {
    if (status === 'changed' || status === 'conflict') decisions.set(path, decision);
  }
  return decisions;
}

/** The results, or other files, that were written, those that were not and why, and their folder: lines for people. */
export function describeResults(
  { folder, plan, written, merged, skipped, setAside, moved, refused }: DownloadedResults,
  noun: 'result' | 'file' = 'result',
): string[] {
  const names = new Map(plan.map(({ path, name }) => [path, name]));
  const statuses = new Map(plan.map(({ path, status }) => [path, status]));
  const merges = new Map(plan.map(({ path, merge }) => [path, merged.includes(path) ? merge : undefined]));
  const same = skipped.filter((path) => statuses.get(path) === 'same');
  const keptPaths = skipped.filter((path) => ['changed', 'conflict'].includes(statuses.get(path) ?? ''));
  const protectedNames = skipped.filter((path) => statuses.get(path) === 'protected');
  const lines = [
    ...firstOf('+', written, (path) => {
      const merge = merges.get(path);
      const how = merge
        ? mergedText(merge)
        : statuses.get(path) === 'changed'
          ? ' (in place of yours, which was as submitted)'
          : '';
      return printableLine(path) + inTheJob(names.get(path)) + how;
    }),
    ...firstOf(
      '>',
      moved,
      ({ path, to }) => `${printableLine(path)} (yours, was in the way) is now ${printableLine(to)}`,
    ),
    ...firstOf('=', keptPaths, (path) => `${printableLine(path)} (your file was kept)`),
    ...describeSetAside(plan, setAside),
    ...firstOf('-', protectedNames, (path) => `${printableLine(path)} (not written: other tools read this file name)`),
    ...firstOf('-', refused, ({ path, reason }) => `${printableLine(path)} (${printableLine(reason)})`),
  ];
  if (written.length > 0) lines.push(`${formatCount(written.length, noun)} in ${folder}`);
  else if (lines.length > 0) lines.push(`No file in ${folder} was changed.`);
  else if (same.length > 0) lines.push(`Nothing new: ${folder} already has all the ${noun}s.`);
  else lines.push(noun === 'result' ? 'The job produced no results.' : 'There are no files to write.');
  return lines;
}

/** How to bring back the local files that were replaced because they were as submitted: a line, or none. */
export function describeReplaced({ plan, written, merged }: DownloadedResults, jobId: string): string[] {
  const isWritten = new Set(written);
  for (const path of merged) isWritten.delete(path);
  const [first, ...others] = plan.filter(({ path, status }) => status === 'changed' && isWritten.has(path));
  if (first === undefined) return [];
  const path = others.length > 0 ? 'PATH' : shellWord(printableLine(first.path));
  return [`Bring back what was submitted:  farwharf restore ${jobArgument(jobId)} ${path} --on-conflict overwrite`];
}

function mergedText(merge: NonNullable<PlannedResult['merge']>): string {
  if (merge.olderOutputs === 0) return ' (yours, with the outputs of the job)';
  const cells = formatCount(merge.olderOutputs, 'cell');
  return ` (yours, with the outputs of the job; those of ${cells} are older than your edits)`;
}

function inTheJob(name: string | undefined): string {
  return name === undefined ? '' : ` (in the job: ${printableLine(name)})`;
}

/** A line for each of the first files, and one that counts the others. */
function firstOf<T>(mark: string, files: readonly T[], describe: (file: T) => string): readonly string[] {
  const lines = files.slice(0, SHOWN_FILES).map((file) => `  ${mark} ${describe(file)}`);
  const rest = files.length - lines.length;
  return rest === 0 ? lines : [...lines, `  ${mark} ${formatCount(rest, 'more file')}`];
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
export function resultsAsJson(results: DownloadedResults): object {
  const { folder, plan, written, merged, skipped, setAside, moved, refused } = results;
  return { folder, written, merged, skipped, set_aside: setAside, moved, refused, plan };
}

/** `farwharf download ID`: a job's results, or some of them, into the folder that was sent or into another one. */
export async function downloadJob(
  context: Context,
  name: string,
  {
    into,
    only,
    onConflict,
    maxSize,
  }: {
    readonly into?: string;
    readonly only?: readonly string[] | undefined;
    readonly onConflict: ConflictChoice;
    readonly maxSize: number;
  },
): Promise<void> {
  await using session = new Session(context);
  const { terminal, cwd, signal } = context;
  const client = await session.client();
  await using place = await findJobPlace(session, name, signal);
  if (into === undefined && !place.isOwn) {
    throw new AppError(
      'bad-input',
      `Job ${name} was not sent from this machine, so its folder is unknown. Specify a folder with --into DIR.`,
    );
  }
  const folder = into === undefined ? () => resultsFolderOf(place.record) : resolve(cwd, into);
  const results = await downloadInto(place, client, context, { folder, onConflict, only, maxSize });
  terminal.json({ job_id: place.record.jobId, ...resultsAsJson(results) });
  for (const line of describeResults(results)) terminal.note(line);
  for (const line of describeReplaced(results, place.record.jobId)) terminal.note(line);
}
