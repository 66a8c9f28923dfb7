import { discardStaged, stageArchive } from '../../workspace/extract/extract.ts';
import { packWorkspace } from '../../workspace/pack/pack.ts';
import { applyResults, planResults } from '../../workspace/results/results.ts';
import { selectFiles } from '../../workspace/select/selection.ts';

/** The workspace functions that submit and download use, in this thread. */
export const directArchiver = {
  select: selectFiles,
  pack: packWorkspace,
  stage: stageArchive,
  plan: planResults,
  apply: applyResults,
  discard: discardStaged,
} as const;

/** The same functions, in this thread or behind a worker. */
export type Archiver = typeof directArchiver;
