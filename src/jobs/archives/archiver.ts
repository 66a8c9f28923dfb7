import { discardStaged, stageArchive, type StagedArchive, type StageOptions } from '../../workspace/extract/extract.ts';
import {
  type ManifestEntry,
  packWorkspace,
  type PackedWorkspace,
  type PackOptions,
} from '../../workspace/pack/pack.ts';
import {
  type AppliedResults,
  type ApplyOptions,
  applyResults,
  type PlannedResult,
  planResults,
  type ResultDecision,
} from '../../workspace/results/results.ts';
import { type Selection, selectFiles, type SelectOptions } from '../../workspace/select/selection.ts';

/** The workspace functions as submit and download use them: in this thread, or behind a worker. */
export interface Archiver {
  select(folder: string, options: SelectOptions): Promise<Selection>;
  pack(selection: Selection, dest: string, options: PackOptions): Promise<PackedWorkspace>;
  stage(archive: string, folder: string, options: StageOptions): Promise<StagedArchive>;
  plan(staged: StagedArchive, folder: string, manifest?: readonly ManifestEntry[]): Promise<readonly PlannedResult[]>;
  apply(
    staged: StagedArchive,
    folder: string,
    decisions: ReadonlyMap<string, ResultDecision>,
    options: ApplyOptions,
  ): Promise<AppliedResults>;
  discard(staged: StagedArchive): Promise<void>;
}

/** Runs everything in this thread: for the command line. */
export const directArchiver: Archiver = {
  select: selectFiles,
  pack: packWorkspace,
  stage: stageArchive,
  plan: planResults,
  apply: applyResults,
  discard: discardStaged,
};
