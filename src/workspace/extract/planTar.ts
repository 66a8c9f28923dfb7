import { statfs } from 'node:fs/promises';
import { Yielder } from '../../core/processes/yielder.ts';
import { TarReader } from '../archive/tarReader.ts';
import { ArchivePlan, type PlannedFile, type SkippedEntry } from './archivePlan.ts';
import { DEFAULT_LIMITS } from './extract.ts';

/** A part of a tar stream. */
export interface TarPart {
  readonly size: number;
  read(): Promise<Buffer>;
}

export interface PlannedArchive {
  readonly files: readonly PlannedFile[];
  /** Links and special files, which are never created. */
  readonly skipped: readonly SkippedEntry[];
}

/**
 * Checks a tar stream as `stageTar` does, and returns which files that would write into `folder`. Parts that are inside of a file are not
 * read.
 *
 * @throws AppError `corrupt`, `refused`, `limit` or `no-space` with the reason, the errors of the parts, or the signal's reason.
 */
export async function planTar(parts: Iterable<TarPart>, folder: string, signal: AbortSignal): Promise<PlannedArchive> {
  const { bavail, bsize } = await statfs(folder);
  const plan = new ArchivePlan(DEFAULT_LIMITS, bavail * bsize);
  const reader = new TarReader(plan);
  const yielder = new Yielder(signal);
  const files: PlannedFile[] = [];
  for (const part of parts) {
    if (yielder.isDue) await yielder.pause();
    if (!reader.skip(part.size)) reader.write(await part.read());
    for (const step of plan.take()) if (step.type === 'file') files.push(step);
  }
  reader.end();
  return { files, skipped: plan.skipped };
}
