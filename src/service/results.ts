import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemCode } from '../core/errors.ts';
import { judgeName, NameTable } from '../workspace/entryNames.ts';
import { packWorkspace } from '../workspace/pack.ts';
import type { SelectedFile } from '../workspace/selection.ts';
import { changedByJob } from './jobFileReading.ts';
import { readManifest, type SubmittedFiles } from './markers.ts';
import type { JobFolder } from './runner/jobFolder.ts';

export interface CollectedResults {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Links, special files, and names that no archive can carry or that collide: never sent back. */
  readonly leftOut: readonly string[];
}

/**
 * Packs what a job created or changed in its workspace into the folder's results archive.
 *
 * @throws AppError of `packWorkspace`; there is no archive then. The signal's reason on abort.
 */
export async function collectResults(folder: JobFolder, signal: AbortSignal): Promise<CollectedResults> {
  const { files, leftOut } = await findResults(folder);
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  const selection = { root: folder.workspace, files, excluded: [], totalBytes, findings: [] };
  const { manifest } = await packWorkspace(selection, folder.results, { signal });
  return { files: manifest.map(({ path, size }) => ({ path, size })), leftOut };
}

interface Found {
  readonly files: SelectedFile[];
  readonly leftOut: string[];
}

async function findResults(folder: JobFolder): Promise<Found> {
  if (!(await lstat(folder.workspace)).isDirectory()) throw changedByJob(folder.workspace);
  const submitted = new Map(((await readManifest(folder.manifest)) ?? []).map((entry) => [entry.path, entry]));
  // The manifest is written when the workspace is complete. No program can set a file's change time back, so what is
  // older has not been touched and need not be read.
  const { ctimeMs: completedAt } = await stat(folder.manifest);
  const found: Found = { files: [], leftOut: [] };
  await walk(folder.workspace, '', async (path, stats) => {
    if (!stats?.isFile()) {
      found.leftOut.push(path);
      return;
    }
    const before = submitted.get(path);
    if (before !== undefined) {
      if (stats.ctimeMs < completedAt) return;
      if (await isSame(join(folder.workspace, path), stats.size, before)) return;
    }
    const mode = (stats.mode & 0o111) === 0 ? 0o644 : 0o755;
    found.files.push({ path, size: stats.size, mode, mtimeMs: stats.mtimeMs });
  });
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  // One name that collides with another would make the receiver refuse all of them.
  const names = new NameTable();
  const twins = new Set(found.files.filter(({ path }) => names.claimFile(path) !== undefined));
  return {
    files: found.files.filter((file) => !twins.has(file)),
    leftOut: [...found.leftOut, ...[...twins].map(({ path }) => path)],
  };
}

type Stats = Awaited<ReturnType<typeof lstat>> & {
  readonly size: number;
  readonly mode: number;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
};

async function walk(
  root: string,
  prefix: string,
  visit: (path: string, stats: Stats | undefined) => Promise<void>,
): Promise<void> {
  for (const entry of await readdir(join(root, prefix), { withFileTypes: true })) {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) await walk(root, path, visit);
    // Names that no archive can carry may not even be found again under their decoded form.
    else await visit(path, judgeName(path) === undefined ? await lstat(join(root, path)) : undefined);
  }
}

async function isSame(path: string, size: number, before: SubmittedFiles[number]): Promise<boolean> {
  if (size !== before.size) return false;
  const digest = createHash('sha256');
  try {
    await pipeline(createReadStream(path), digest);
  } catch (error) {
    if (systemCode(error) === 'EACCES') return false;
    throw error;
  }
  return digest.digest('hex') === before.sha256;
}
