import type { DownloadedResults, PlaceOptions } from '../../jobs/results/placeFiles.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';

/** A file or folder that the Results view lists. */
export interface ShownFile {
  readonly path: string;
  readonly name: string;
  readonly isFolder: boolean;
  /** The number of files in a folder; undefined if they were not counted. */
  readonly files: number | undefined;
  readonly bytes: number;
}

/** What is directly in a folder, and how many other entries are not listed. */
export interface ShownFolder {
  readonly children: readonly ShownFile[];
  readonly more: number;
}

/** The files of a job that the Results view shows: its results, or what is in its folder while it runs. */
export interface ShownFiles extends Disposable {
  readonly record: JobRecord;
  /** Of the view. */
  readonly title: string;
  readonly message: string;
  /** @param folder a path relative to the folder of the job, with `/`; `''` is that folder. */
  level(folder: string): Promise<ShownFolder>;
  /** Writes files and folders as `placeFiles`; `''` is everything. */
  take(paths: readonly string[], options: PlaceOptions): Promise<DownloadedResults>;
  /** How long folders and files on screen are shown before they are read again, in milliseconds; undefined if they never change. */
  readonly refreshMs: number | undefined;
}
