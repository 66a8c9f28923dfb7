import { AppError } from '../../core/errors.ts';
import { formatBytes, formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { WriteStep } from '../../workspace/extract/archivePlan.ts';
import type { ArchiveSource } from '../../workspace/extract/archiveSteps.ts';
import { type StagedArchive, stageFiles, type StageOptions } from '../../workspace/extract/extract.ts';
import { readMetricFiles } from '../metrics/metricFiles.ts';
import type { SeriesData } from '../metrics/series.ts';
import { readPreviews, type ResultPreview } from './previews.ts';
import { type BuildOptions, ResultCache } from './resultCache.ts';
import type { BrowsedFile, ResultIndex, ResultLevel } from './resultIndex.ts';

/** The results of a job, as they are listed. */
export interface ResultSummary {
  readonly files: number;
  readonly bytes: number;
}

/** The most entries of a folder that are listed. Each costs the thread that shows it about 1 ms. */
export const MOST_LISTED = 5_000;
const END: WriteStep = { type: 'end' };

/** The results of jobs in the cache, for another thread. All methods throw AppError `missing` for results that are not in the cache. */
export class BrowsedResults {
  readonly #cache: ResultCache;

  /** @param home FARWHARF_HOME. */
  constructor(home: string, cache: ResultCache = new ResultCache(home)) {
    this.#cache = cache;
  }

  /** Undefined if the results are not in the cache. */
  async summary(id: string): Promise<ResultSummary | undefined> {
    const index = await this.#cache.open(id);
    return index === undefined ? undefined : summaryOf(index);
  }

  /** Adds the results of a job from its archive. Throws as `ResultCache.add`. */
  async add(id: string, archive: ArchiveSource, options: BuildOptions = {}): Promise<ResultSummary> {
    return summaryOf(await this.#cache.add(id, archive, options));
  }

  /** What is directly in a folder, at most `MOST_LISTED` entries. */
  async level(id: string, folder: string): Promise<ResultLevel> {
    return (await this.#index(id)).level(folder, MOST_LISTED);
  }

  /** The file with this path, or whether it is a folder; undefined if it is neither. */
  async find(id: string, path: string): Promise<BrowsedFile | 'folder' | undefined> {
    const index = await this.#index(id);
    return index.find(path) ?? (path === '' || index.level(path, 1).children.length > 0 ? 'folder' : undefined);
  }

  /** All files with one of these paths or below one; `''` is the folder of the job. */
  async under(id: string, paths: readonly string[]): Promise<readonly BrowsedFile[]> {
    const index = await this.#index(id);
    return [...new Set(paths.flatMap((path) => index.under(path)))];
  }

  /** The contents of a file. @throws AppError `limit` if it has more than `mostBytes`, or its contents are not stored. */
  readAll(id: string, path: string, mostBytes: number): Promise<Uint8Array> {
    return this.#cache.readAll(id, path, mostBytes);
  }

  /** Pictures and the heads of tables among the results. */
  async previews(id: string): Promise<readonly ResultPreview[]> {
    return readPreviews(await this.#index(id), (file, mostBytes) => this.#cache.readStart(id, file, mostBytes));
  }

  /** The metrics in files among the results, by name. */
  async metrics(id: string): Promise<ReadonlyMap<string, SeriesData>> {
    const files = (await this.#index(id)).files.filter(({ offset }) => offset !== null);
    return readMetricFiles(files, (file) => this.#cache.read(id, file));
  }

  /** The contents of a file in parts, in this thread. Throws as `ResultCache.read`. */
  read(id: string, file: BrowsedFile, signal?: AbortSignal): AsyncGenerator<Buffer, void> {
    return this.#cache.read(id, file, signal);
  }

  /**
   * Writes files into a new staging folder inside `folder`, as `stageArchive` does with a whole archive.
   *
   * @throws AppError `limit` if the contents of one of them are not stored; as `stageFiles`.
   */
  async stage(
    id: string,
    paths: readonly string[],
    folder: string,
    options: Pick<StageOptions, 'name' | 'signal'> = {},
  ): Promise<StagedArchive> {
    const files = await this.under(id, paths);
    const missing = files.filter(({ offset }) => offset === null);
    const [first] = missing;
    if (first !== undefined) {
      const size = formatBytes(missing.reduce((sum, each) => sum + each.size, 0));
      throw new AppError(
        'limit',
        `${formatCount(missing.length, 'file')} (${size}, such as ${printableLine(first.path)}) are too large to be stored for browsing. Download all results instead.`,
      );
    }
    return stageFiles(folder, this.#steps(id, files, options.signal), options);
  }

  async *#steps(
    id: string,
    files: readonly BrowsedFile[],
    signal?: AbortSignal,
  ): AsyncGenerator<readonly WriteStep[], void> {
    for (const file of files) {
      const { offset: _, ...entry } = file;
      yield [{ type: 'file', ...entry }];
      for await (const bytes of this.#cache.read(id, file, signal)) yield [{ type: 'bytes', bytes }];
      yield [END];
    }
  }

  async #index(id: string): Promise<ResultIndex> {
    const index = await this.#cache.open(id);
    if (index !== undefined) return index;
    throw new AppError('missing', 'The results of this job are not stored on this machine. Browse them again.');
  }
}

function summaryOf(index: ResultIndex): ResultSummary {
  return { files: index.files.length, bytes: index.bytes };
}
