import { formatDuration } from '../../core/text/format.ts';
import { printableLine, printableText } from '../../core/text/printable.ts';
import { describeOutcome } from '../report/describeJob.ts';
import { elapsedSeconds } from '../ledger/record.ts';
import { shownScript } from '../selection/script.ts';
import type { FailureContext } from './failureContext.ts';
import type { FailureFrame } from './failureFrames.ts';

const MAX_NAMED_FILES = 20;

/**
 * The context of a failure as a Markdown page, which helps without a model too. What programs printed and files contain is in code fences
 * that it cannot close, and is called data.
 */
export function failurePage({ record, lines, frames, changes, hints }: FailureContext): string {
  const { jobId, script, machineClass, maxRuntime, exitCode, gitCommit, venv } = record;
  const ran = elapsedSeconds(record, Date.parse(record.finishedAt ?? ''));
  const facts = [
    ['Job', jobId],
    ['Machine class', machineClass],
    ['Exit code', exitCode],
    ['Ran for', ran === null ? null : `${formatDuration(ran)} of at most ${formatDuration(maxRuntime)}`],
    ['Git commit', gitCommit],
    ['Environment', venv === null ? null : JSON.stringify(venv)],
  ] as const;
  const sections = [
    `# Why ${printableLine(shownScript(script))} failed\n\n${printableLine(describeOutcome(record))}`,
    hints.length === 0 ? '' : `## Likely causes\n\n${hints.map((hint) => `- ${hint}`).join('\n')}`,
    section('Last lines of the output', lines.length === 0 ? 'The job printed nothing.' : fenced(lines.join('\n'))),
    frames.length === 0 ? '' : section('Code that the output names', frames.map(describeFrame).join('\n\n')),
    section('What changed since it last worked', describeChanges(changes)),
    section(
      'Environment',
      facts
        .filter(([, value]) => value !== null)
        .map(([label, value]) => `- ${label}: ${printableLine(String(value))}`)
        .join('\n'),
    ),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

function section(title: string, text: string): string {
  return `## ${title}\n\n${text}`;
}

function describeFrame({ path, line, cell, firstLine, lines }: FailureFrame): string {
  const width = String(firstLine + lines.length).length;
  const numbered = lines.map((text, index) => {
    const number = firstLine + index;
    return `${number === line ? '>' : ' '} ${String(number).padStart(width)} ${text}`;
  });
  const place = cell === undefined ? `line ${line}` : `cell ${cell}, line ${line}`;
  return `${printableLine(path)}, ${place}\n\n${fenced(numbered.join('\n'))}`;
}

function describeChanges(changes: FailureContext['changes']): string {
  if (changes === undefined) {
    return 'Unknown: no earlier job with this script succeeded here, or its files are no longer stored.';
  }
  const { since, files, diff, isCut } = changes;
  const job = `job ${printableLine(since.jobId ?? since.id)}`;
  if (files.length === 0)
    return `No file changed since ${job} succeeded. Suspect its input, the machine or the environment.`;
  const named = files.slice(0, MAX_NAMED_FILES).map(({ path, type }) => `- ${type}: ${printableLine(path)}`);
  const rest = files.length > named.length ? [`- and ${files.length - named.length} more`] : [];
  const cut = isCut ? '\n\nThe diff is not complete.' : '';
  return `Since ${job} succeeded:\n\n${[...named, ...rest].join('\n')}\n\n${fenced(diff, 'diff')}${cut}`;
}

/** A code fence that is longer than any run of backticks in the text (CommonMark 0.31, section 4.5). */
function fenced(text: string, language = ''): string {
  const runs = text.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...runs.map(({ length }) => length + 1)));
  return `${fence}${language}\n${printableText(text)}\n${fence}`;
}
