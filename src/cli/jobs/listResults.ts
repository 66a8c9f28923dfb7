import { AppError } from '../../core/errors.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { browseResults } from '../../jobs/results/browse.ts';
import { BrowsedResults } from '../../jobs/results/browsedResults.ts';
import type { BrowsedFile } from '../../jobs/results/resultIndex.ts';
import type { Context } from '../command/commandContext.ts';
import { findJobPlace } from '../command/jobPlace.ts';
import { Session } from '../command/session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { resultPath, transferProgress } from './jobResults.ts';
import { jobArgument } from '../command/jobArgument.ts';

const SIZE_COLUMN = 9;

/**
 * `farwharf results ID [PATH]`: lists a job's results, or those in a folder, or prints a text file, without writing them into a folder.
 * JSON: `{ job_id, files: [{ path, size }] }`.
 */
export async function listResults(
  context: Context,
  name: string,
  _flags: unknown,
  [path = '']: readonly string[],
): Promise<void> {
  await using session = new Session(context);
  const { terminal, signal } = context;
  const service = await session.client();
  await using place = await findJobPlace(session, name, signal);
  const browsed = new BrowsedResults(place.home);
  const { onPhase, end } = transferProgress(terminal);
  try {
    await browseResults({ service, home: place.home, browsed }, place.record, { signal, onPhase });
  } finally {
    end();
  }
  const inside = resultPath(path);
  const found = await browsed.find(place.record.id, inside);
  if (found === undefined)
    throw new AppError(
      'missing',
      `Job ${printableLine(name)} has no result ${printableLine(path)}. List its results:  farwharf results ${jobArgument(name)}`,
    );
  const files = found === 'folder' ? await browsed.under(place.record.id, [inside]) : [found];
  const rows = files.map((file) => ({ path: file.path, size: file.size }));
  if (terminal.json({ job_id: place.record.jobId, files: rows })) return;
  if (found !== 'folder') {
    await printFile(terminal, found, browsed.read(place.record.id, found, signal), name);
    return;
  }
  for (const file of rows) {
    terminal.answer(`${formatBytes(file.size).padStart(SIZE_COLUMN)}  ${printableLine(file.path)}`);
    await terminal.stdio.drained();
  }
  const bytes = rows.reduce((sum, { size }) => sum + size, 0);
  terminal.note(`${formatCount(rows.length, 'result')}, ${formatBytes(bytes)}.`);
}

/** @throws AppError `bad-input` for a file that is not text. */
async function printFile(
  terminal: Terminal,
  { path }: BrowsedFile,
  parts: AsyncIterable<Buffer>,
  name: string,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const part of parts) {
    if (part.includes(0))
      throw new AppError(
        'bad-input',
        `${printableLine(path)} is not text. Save it with: farwharf download --only ${shellWord(printableLine(path))} ${jobArgument(name)}`,
      );
    terminal.programOutput('stdout', decoder.decode(part, { stream: true }));
    await terminal.stdio.drained();
  }
  terminal.programOutput('stdout', decoder.decode());
}
