import { discardStaged, stageArchive, type StagedArchive, stageTar } from '../../workspace/extract/extract.ts';
import { applyResults, planResults } from '../../workspace/results/applyResults.ts';
import type { PackedFiles } from './archives.ts';
import { isWhole, readTar } from './archiveTar.ts';

/** The workspace functions that a download uses, in this thread. */
export const directArchiver = {
  stage: stageArchive,
  stagePacked,
  plan: planResults,
  apply: applyResults,
  discard: discardStaged,
} as const;

/** The same functions, in this thread or behind a worker. */
export type Archiver = typeof directArchiver;

/** Unpacks the stored files of a job that was sent, as `stageArchive`. @throws as that and `readTar`. */
async function stagePacked(
  packed: PackedFiles,
  folder: string,
  options: Parameters<typeof stageTar>[2],
): Promise<StagedArchive> {
  const { archive } = packed;
  return (await isWhole(archive))
    ? stageArchive(archive, folder, options)
    : stageTar(readTar(packed, options?.signal), folder, options);
}
