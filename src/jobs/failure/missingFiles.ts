import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathInside } from '../../core/files/pathInside.ts';
import type { JobRecord } from '../ledger/record.ts';
import { isMachinePath } from '../selection/machinePaths.ts';
import { workspacePaths } from '../source/workspacePath.ts';
import type { SubmittedFiles } from '../archives/submittedFiles.ts';

/** A file or folder that a job did not find, although the folder has it. */
export interface MissingFile {
  /** As the output prints it. */
  readonly printed: string;
  /** Relative to the folder that was submitted, with `/`. */
  readonly path: string;
  /** Whether it was sent, so that only its path is wrong: it is one of the user's machine. */
  readonly isSent: boolean;
}

// The messages of Python and Node.js, of R and Perl, and of the shell and its commands.
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

/** The missing files of the output, last lines first, that the folder contains. None if what was sent is unknown. */
export async function missingFiles(
  output: readonly string[],
  { id, folder }: Pick<JobRecord, 'id' | 'folder'>,
  submitted: SubmittedFiles,
): Promise<readonly MissingFile[]> {
  const missing = new Set(output.toReversed().flatMap((line) => missingFileIn(line) ?? []));
  if (missing.size === 0) return [];
  const sentFiles = await submitted.list(id).catch(() => undefined);
  if (sentFiles === undefined) return [];
  const wasSent = (path: string): boolean =>
    sentFiles.some((file) => file.path === path || file.path.startsWith(`${path}/`));
  const result: MissingFile[] = [];
  for (const printed of [...missing].slice(0, MOST_CHECKED)) {
    const local = isMachinePath(printed) ? pathInside(folder, printed) : undefined;
    const path = local || (await firstOf(folder, workspacePaths(printed)));
    if (path === undefined) continue;
    const isSent = wasSent(path);
    // Under another path, it is another file.
    if (!isSent || local !== undefined) result.push({ printed, path, isSent });
  }
  return result;
}

/** The first of these paths that the folder contains. */
async function firstOf(folder: string, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if ((await lstat(join(folder, path)).catch(() => undefined)) !== undefined) return path;
  }
  return undefined;
}
