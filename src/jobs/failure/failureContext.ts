import { AppError } from '../../core/errors.ts';
import { printableLine, printableText } from '../../core/text/printable.ts';
import { stateWord } from '../ledger/jobIcon.ts';
import { hasSucceeded, isOver, type JobRecord } from '../ledger/record.ts';
import { EventSpool } from '../log/spool.ts';
import type { JobService } from '../service/api.ts';
import type { FailureDetails, ReadDetails } from './failureDetails.ts';
import { recentLines } from './recentLines.ts';
import { type MissingFile, missingFileIn } from './missingFiles.ts';
import { describeMissing, installLine, type MissingPackages, missingPackages } from './missingPackages.ts';

const MAX_LINES = 60;
const MAX_LINE = 500;

// Exit codes of a shell: https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html; above 128 it is a signal.
const EXIT_HINTS: Readonly<Record<number, string>> = {
  126: 'The program could not be executed. Check its first line (#!) and its permissions.',
  127: 'A command was not found. Install it, or check the spelling and PATH.',
  137: 'The process was killed (SIGKILL), usually because it used too much memory. Choose a machine class with more memory, or use smaller batches.',
  139: 'The process crashed in native code (SIGSEGV). Suspect a compiled package, and check that its version fits.',
};

const RULES: readonly Rule[] = [
  {
    pattern: /\b(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)/,
    hint: (name) =>
      `The Python module ${name} is not installed in the job. Add its package to the requirements of the job.`,
  },
  {
    pattern: /Cannot find (?:module|package) '([^']+)'/,
    hint: (name) =>
      `The module ${name} was not found. node_modules is not sent: install packages in the job, or bundle the script.`,
  },
  {
    pattern: /\bKeyError: ('[^']{1,100}'|"[^"]{1,100}"|\w{1,100})/,
    hint: (key) =>
      `The key ${key} is missing in a dictionary. Compare the code with the input or configuration that it reads.`,
  },
  {
    pattern: /\b(?:CUDA out of memory|MemoryError|heap out of memory|Cannot allocate memory)/,
    hint: () => 'The job ran out of memory. Choose a machine class with more memory, or use smaller batches.',
  },
  {
    pattern: /No space left on device/,
    hint: () => "The disk was full. Write less, or write to the job's own folder.",
  },
  {
    pattern:
      /\b(?:Name or service not known|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|Network is unreachable|Temporary failure in name resolution)/,
    hint: () => 'A network address could not be reached. Jobs of this service may have no network.',
  },
  {
    pattern: /\b(?:SyntaxError|IndentationError): (.{1,200})/,
    hint: (what) => `The program could not be parsed: ${what}.`,
  },
];

const MAX_HINTS = 4;

/** What a person or a model needs to find out why a job failed. All texts are cleaned for display. */
export interface FailureContext extends Omit<FailureDetails, 'missing'> {
  readonly record: JobRecord;
  /** The last lines of the output, oldest first. */
  readonly lines: readonly string[];
  /** Known causes, in sentences. */
  readonly hints: readonly string[];
  /** What the job lacked to run its notebook. */
  readonly packages?: MissingPackages | undefined;
}

interface FailureSources {
  readonly service: Pick<JobService, 'streamEvents'>;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly details: ReadDetails;
}

interface Rule {
  readonly pattern: RegExp;
  readonly hint: (match: string) => string;
}

/**
 * Collects why a job failed: its last lines, the code they name, what changed since the script last succeeded, and known causes.
 *
 * @param record up to date.
 * @throws AppError `bad-input` for a job that has not failed; the service's error if the output is not stored here and cannot be read.
 */
export async function failureContext(
  { service, home, details }: FailureSources,
  record: JobRecord & { readonly jobId: string },
  signal: AbortSignal,
): Promise<FailureContext> {
  if (!isOver(record))
    throw new AppError('bad-input', `Job ${record.jobId} has not failed: its state is ${stateWord(record.state)}.`);
  if (hasSucceeded(record)) throw new AppError('bad-input', `Job ${record.jobId} has not failed: it succeeded.`);
  const spool = new EventSpool(home, record.id);
  const all = await recentLines({ service, spool, jobId: record.jobId }, signal);
  const output = all.map((line) => printableText(line.slice(0, MAX_LINE)));
  while (output.at(-1)?.trim() === '') output.pop();
  const { missing, ...found } = await details(record, output);
  const packages = missingPackages(record, all);
  const install =
    packages === undefined
      ? []
      : [printableLine(`${describeMissing(packages)} In the folder, run: ${installLine(record, packages)}`)];
  const hints = [...install, ...failureHints(record, output, missing)].slice(0, MAX_HINTS);
  return { record, lines: output.slice(-MAX_LINES), ...found, hints, packages };
}

/**
 * Known causes of such failures, in sentences: first those found from how the job ended, then those from its output, last lines first.
 *
 * @param files missing files that the folder contains.
 */
export function failureHints(
  { state, exitCode, reason }: Pick<JobRecord, 'state' | 'exitCode' | 'reason'>,
  output: readonly string[],
  files: readonly MissingFile[] = [],
): readonly string[] {
  const hints = new Set<string>();
  if (state === 'timed_out') {
    hints.add(
      'The job reached its time limit. Set a longer limit, or do less in one job and save intermediate results.',
    );
  }
  const exitHint = EXIT_HINTS[exitCode ?? 0];
  if (exitHint !== undefined) hints.add(exitHint);
  for (const line of [reason ?? '', ...output.toReversed()]) {
    const missing = missingFileIn(line);
    if (missing !== undefined) hints.add(printableLine(missingFileHint(missing, files)));
    for (const { pattern, hint } of RULES) {
      const match = pattern.exec(line.slice(0, 2_000));
      if (match !== null) hints.add(printableLine(hint(match[1] ?? '')));
    }
    if (hints.size >= MAX_HINTS) break;
  }
  return [...hints].slice(0, MAX_HINTS);
}

function missingFileHint(printed: string, files: readonly MissingFile[]): string {
  const file = files.find((each) => each.printed === printed);
  if (file === undefined)
    return `The file ${printed} does not exist in the job. Check that it is in the folder and not left out: farwharf submit --dry-run lists both.`;
  return file.isSent
    ? `${printed} is a path on your own machine. In the job, its path is ${file.path}, relative to the folder.`
    : `${file.path} is in your folder, but it was left out when the job was submitted. Include it in the next submit, or find out why: farwharf submit --dry-run`;
}
