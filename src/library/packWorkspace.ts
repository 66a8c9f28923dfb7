import { resolve } from 'node:path';
import { AppError } from '../core/errors.ts';
import { pathInside } from '../core/files/pathInside.ts';
import { entryExists } from '../workspace/files/folderEntries.ts';
import type { Finding, SelectedFile } from '../workspace/files/selectedFile.ts';
import { packSelection as pack } from '../workspace/pack/pack.ts';
import { type Exclusion, selectFiles } from '../workspace/select/selection.ts';

export interface PackWorkspaceOptions {
  /** Paths, or patterns in the syntax of `.gitignore`, of what to send although a rule leaves it out. A link sends what it leads to. */
  readonly include?: readonly string[];
  /** The same of what not to send. */
  readonly exclude?: readonly string[];
  /** Whether git may be run to list the files, which is the default. Without it, the ignore files are read. */
  readonly isTrusted?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface PackedWorkspace {
  /** The archive: a `.tar.gz` for `submitJob`. */
  readonly path: string;
  /** Of the archive. */
  readonly bytes: number;
  readonly files: readonly SelectedFile[];
  /** What is left out, with the reasons. */
  readonly excluded: readonly Exclusion[];
  /** What a person should know before the archive is sent: links that were followed, large files, secrets that were found. */
  readonly findings: readonly Finding[];
}

/**
 * Packs what `farwharf submit` would send of a folder into the file `dest`, always the same bytes for the same files. The archive appears
 * when it is complete.
 *
 * @throws AppError `missing` (the folder, or what a choice names), `bad-input` (no file to send, or a choice outside of the folder),
 * `refused` (a choice that cannot be sent, or a secret), `conflict` (a file changed meanwhile), `limit`, `permission` or `no-space`; the
 * signal's reason on abort.
 */
export async function packWorkspace(
  folder: string,
  dest: string,
  { include, exclude = [], isTrusted = true, signal, onProgress }: PackWorkspaceOptions = {},
): Promise<PackedWorkspace> {
  // The archive of the last call.
  const earlierArchive = pathInside(resolve(folder), resolve(dest));
  const isInside = earlierArchive !== undefined && (await entryExists(resolve(dest)));
  const selection = await selectFiles(folder, {
    isTrusted,
    include,
    exclude: isInside ? [...exclude, earlierArchive] : exclude,
    signal,
  });
  const { files, excluded, findings } = selection;
  if (files.length === 0) {
    throw new AppError(
      'bad-input',
      `${selection.root} has no file to send. \`include\` sends files that a rule leaves out.`,
    );
  }
  const { path, bytes } = await pack(selection, dest, { signal, ...(onProgress && { onProgress }) });
  return { path, bytes, files, excluded, findings };
}
