import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobRecord } from '../ledger/record.ts';
import { workspacePaths } from '../source/workspacePath.ts';
import type { SubmittedFiles } from '../submitted/submittedFiles.ts';

/** A file or folder that a job did not find, because it was not sent with it. */
export interface UnsentFile {
  /** As the output prints it. */
  readonly printed: string;
  /** Relative to the folder that was submitted, with `/`. */
  readonly path: string;
}

// The words of Python and Node.js, of R and Perl, and of the shell and its commands.
const NOT_FOUND = [
  /\b(?:FileNotFoundError|ENOENT).*?'([^']{1,300})'/,
  /'([^']{1,300})': No such file or directory/,
  /: ([^:'"]{1,300}): No such file or directory/,
];
const MOST_READ = 2_000;
// Output can name any number of files, and each costs system calls.
const MOST_CHECKED = 20;

/** The path that a line of output says does not exist. */
export function missingFileIn(line: string): string | undefined {
  const read = line.slice(0, MOST_READ);
  for (const pattern of NOT_FOUND) {
    const path = pattern.exec(read)?.[1];
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The missing files of the output, last lines first, that the folder contains and that were not sent. None if what was sent is unknown. */
export async function unsentFiles(
  output: readonly string[],
  { id, folder }: Pick<JobRecord, 'id' | 'folder'>,
  submitted: SubmittedFiles,
): Promise<readonly UnsentFile[]> {
  const missing = new Set(output.toReversed().flatMap((line) => missingFileIn(line) ?? []));
  if (missing.size === 0) return [];
  const sent = await submitted.list(id).catch(() => undefined);
  if (sent === undefined) return [];
  const isSent = (path: string): boolean => sent.some((file) => file.path === path || file.path.startsWith(`${path}/`));
  const unsent: UnsentFile[] = [];
  for (const printed of [...missing].slice(0, MOST_CHECKED)) {
    for (const path of workspacePaths(printed)) {
      if ((await lstat(join(folder, path)).catch(() => undefined)) === undefined) continue;
      if (!isSent(path)) unsent.push({ printed, path });
      break;
    }
  }
  return unsent;
}
