import { stat } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { directArchiver } from '../../jobs/archives/archiver.ts';
import { ResultJournals } from '../../jobs/results/resultJournals.ts';
import { resultLimits } from '../../jobs/results/resultLimits.ts';
import { type TakenFiles, takeFromJob } from '../../jobs/results/takeFromJob.ts';
import { isFilePath, type JobFile } from '../../remote/tunnel/fileChannels.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import type { Context } from '../command/commandContext.ts';
import type { ConflictChoice } from '../command/flags.ts';
import { findJobPlace } from '../command/jobPlace.ts';
import { answerTable, formatAge, type RecordColumn } from '../command/recordTable.ts';
import { Session } from '../command/session.ts';
import { connectToJob } from './jobConnection.ts';
import { decide, describeResults, resultPath, resultsAsJson, transferProgress } from './jobResults.ts';

const MOST_LISTED = 200_000;
const SHOWN_FILES = 20;

/**
 * `farwharf files ID [PATH]`: the files of a running job, or those in a folder of it. JSON: `{ job_id, files: [{ path, size, modified }] }`
 * with times in ISO 8601.
 */
export async function listRunningFiles(
  context: Context,
  name: string,
  _flags: unknown,
  [path = '']: readonly string[],
): Promise<void> {
  await using session = new Session(context);
  const { terminal } = context;
  const { jobId } = session.resolveJob(name);
  const inside = pathInJob(path);
  using tunnel = await connectToJob(session, jobId, context);
  const { files, isComplete } = await filesUnder(tunnel, inside, context.outputSignal);
  const rows = files.map((file) => ({
    path: file.path,
    size: file.size,
    modified: new Date(file.modified).toISOString(),
  }));
  if (!isComplete) terminal.note(`Only ${formatCount(files.length, 'file')} are listed. Name a folder to list fewer.`);
  if (terminal.json({ job_id: jobId, files: rows })) return;
  answerTable(terminal, FILE_COLUMNS, rows, {
    none: inside === '' ? 'The job’s folder has no files.' : 'The folder has no files.',
  });
}

const FILE_COLUMNS: readonly RecordColumn<{ path: string; size: number; modified: string }>[] = [
  { title: 'SIZE', cell: ({ size }) => formatBytes(size), align: 'right' },
  { title: 'CHANGED', cell: ({ modified }) => formatAge(modified) },
  { title: 'FILE', cell: ({ path }) => path },
];

/** The files at or below a path, in order. */
async function filesUnder(
  tunnel: JobTunnelClient,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly files: readonly JobFile[]; readonly isComplete: boolean }> {
  const found = await tunnel.stat(path, { signal });
  if (found.type !== 'folder') return { files: [found], isComplete: true };
  const files: JobFile[] = [];
  let isComplete = true;
  for await (const entries of tunnel.walk(path, { signal })) {
    files.push(...entries.filter(({ type }) => type === 'file'));
    if (files.length > MOST_LISTED) {
      isComplete = false;
      break;
    }
  }
  return { files: files.slice(0, MOST_LISTED).toSorted((a, b) => (a.path < b.path ? -1 : 1)), isComplete };
}

/** `farwharf cp ID:PATH DEST`: copies a file or a folder of a running job to this machine. */
export async function copyFromJob(
  context: Context,
  source: string,
  { onConflict, maxSize }: { readonly onConflict: ConflictChoice; readonly maxSize: number },
  [dest = '']: readonly string[],
): Promise<void> {
  const colon = source.indexOf(':');
  if (colon <= 0 || dest === '') {
    throw new AppError('bad-input', 'Name a file of a running job and where to copy it: farwharf cp ID:PATH DEST');
  }
  const path = pathInJob(source.slice(colon + 1));
  await using session = new Session(context);
  const { terminal, env, cwd, signal } = context;
  await using place = await findJobPlace(session, source.slice(0, colon), signal);
  using tunnel = await connectToJob(session, place.record.jobId, context);
  const { type } = await tunnel.stat(path, { signal });
  const { onPhase, end } = transferProgress(terminal);
  try {
    const deps = { archiver: directArchiver, journals: new ResultJournals(farwharfHome(env)) };
    const taken = await takeFromJob(deps, { tunnel, record: place.record }, path, {
      ...(await destination(resolve(cwd, dest), { path, isFolder: type === 'folder', hasSlash: /[/\\]$/.test(dest) })),
      limits: resultLimits(maxSize, `Raise the limit with: farwharf cp --max-size ${2 * maxSize}`),
      decide: (plan) => decide(plan, onConflict),
      signal,
      onPhase,
    });
    terminal.json({ job_id: place.record.jobId, ...resultsAsJson(taken), left: taken.left });
    terminal.clearStatus();
    for (const line of [...describeResults(taken, 'file'), ...describeLeft(taken)]) terminal.note(line);
  } finally {
    end();
  }
}

/** As `cp` does it: into a folder that exists under the same name, otherwise under the name of the destination. */
async function destination(
  dest: string,
  { path, isFolder, hasSlash }: { readonly path: string; readonly isFolder: boolean; readonly hasSlash: boolean },
): Promise<{ readonly folder: string; readonly name?: string }> {
  const isInto = hasSlash || (await stat(dest).catch(() => undefined))?.isDirectory() === true;
  const own = posix.basename(path);
  if (isFolder) return { folder: isInto ? join(dest, own) : dest };
  return isInto ? { folder: dest, name: own } : { folder: dirname(dest), name: basename(dest) };
}

/** The files that were left out or changed meanwhile: lines for people. */
function describeLeft({ left: { skipped, changed } }: TakenFiles): readonly string[] {
  const of = ({ paths, count }: TakenFiles['left']['skipped'], why: string): readonly string[] => {
    const shown = paths.slice(0, SHOWN_FILES).map((path) => `  - ${printableLine(path)} (${why})`);
    return count > shown.length ? [...shown, `  - ${formatCount(count - shown.length, 'more file')} (${why})`] : shown;
  };
  return [
    ...of(skipped, 'not copied: it is a link or a special file, its name is not valid, or the job may not read it'),
    ...of(changed, 'changed while it was copied: copy it again for its latest state'),
  ];
}

/** The path of a file as a job names it. @throws AppError `bad-input` for one outside the job's folder. */
function pathInJob(path: string): string {
  const inside = resultPath(path);
  if (!path.startsWith('/') && isFilePath(inside)) return inside;
  throw new AppError(
    'bad-input',
    `${printableLine(path)} is not a path in the job's folder. Paths are relative to it.`,
  );
}
