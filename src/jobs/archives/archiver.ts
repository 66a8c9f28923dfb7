import { discardStaged, stageArchive } from '../../workspace/extract/extract.ts';
import { applyResults, planResults } from '../../workspace/results/results.ts';

/** The workspace functions that a download uses, in this thread. */
export const directArchiver = {
  stage: stageArchive,
  plan: planResults,
  apply: applyResults,
  discard: discardStaged,
} as const;

/** The same functions, in this thread or behind a worker. */
export type Archiver = typeof directArchiver;
