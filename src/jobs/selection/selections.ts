import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import type { SelectedFile } from '../../workspace/files/selectedFile.ts';
import { gatherParts } from '../../workspace/pack/archiveParts.ts';
import type { EarlierPacking } from '../../workspace/pack/earlierArchive.ts';
import { type PackedArchive, type PackOptions, packSelection } from '../../workspace/pack/pack.ts';
import { type Selection, selectFiles, type SelectOptions } from '../../workspace/select/selection.ts';
import { readSegments, writeSegments } from '../archives/archiveSegments.ts';
import { type PackedFiles, readArchiveManifest } from '../archives/archives.ts';
import { listLevel, type TreeLevel } from './fileTree.ts';
import { type JobReview, type ReviewedJob, reviewJob } from './jobReview.ts';
import { requireProgram } from './script.ts';
import { type SelectedFolder, summarizeSelection } from './selectedFolder.ts';

export interface SelectFolderOptions extends SelectOptions {
  /** Command lines used lately, newest first. */
  readonly recentScripts?: readonly string[];
}

export interface PackSelectionOptions extends Pick<PackOptions, 'signal' | 'onProgress'> {
  /** Where to write the list of the packed files, with their hashes. */
  readonly manifest: string;
  /** Where to write the segments of the archive. */
  readonly segments: string;
  /** What is stored of an earlier archive of the folder, from which files that have not changed are copied. */
  readonly earlier?: PackedFiles | undefined;
  /** The folder that is made in place of the file if files that have not changed stay where they are. They are copied if absent. */
  readonly folder?: string;
}

interface PackedSelection extends Pick<PackedArchive, 'bytes'> {
  /** Whether the archive is the folder. */
  readonly isFolder: boolean;
}

interface Held {
  readonly selection: Selection;
  readonly recentScripts: readonly string[];
}

/** Stores selections between the steps of a submit. Callers receive a summary with an ID. */
export class Selections {
  readonly #held = new Map<string, Held>();

  /** Whether a selection is not released yet. */
  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Selects the files of a folder. Throws as `selectFiles` does. */
  async select(folder: string, { recentScripts = [], ...options }: SelectFolderOptions): Promise<SelectedFolder> {
    return this.hold(await selectFiles(folder, options), recentScripts);
  }

  /** Stores a selection until it is released. */
  hold(selection: Selection, recentScripts: readonly string[] = []): SelectedFolder {
    const id = randomUUID();
    this.#held.set(id, { selection, recentScripts });
    return summarizeSelection(id, selection, recentScripts);
  }

  /** A second selection with more files; they replace those with the same path. */
  async addFiles(id: string, added: readonly SelectedFile[]): Promise<SelectedFolder> {
    const { selection, recentScripts } = this.#get(id);
    return this.hold(withFiles(selection, added), recentScripts);
  }

  /** What is directly in a folder, sent or left out; `''` is the folder itself. */
  async listLevel(id: string, folder: string): Promise<TreeLevel> {
    return listLevel(this.#get(id).selection, folder);
  }

  /** Throws as the function `checkScript` does. */
  async checkScript(id: string, script: string): Promise<void> {
    requireProgram(this.#get(id).selection, { script });
  }

  /** As the function `reviewJob`. */
  async reviewJob(id: string, job: ReviewedJob): Promise<JobReview> {
    return reviewJob(this.#get(id).selection, job);
  }

  /** Writes the archive to `dest`, its manifest and its segments. Throws as `packSelection` does. */
  async pack(
    id: string,
    dest: string,
    { manifest, segments, earlier, folder, ...options }: PackSelectionOptions,
  ): Promise<PackedSelection> {
    const packing = earlier && (await readPacking(earlier));
    const { selection } = this.#get(id);
    const pack = (mayRefer: boolean): Promise<PackedArchive> =>
      packSelection(selection, dest, { ...options, isSegmented: true, earlier: packing, mayRefer });
    let packed = await pack(folder !== undefined);
    const isFolder = folder !== undefined && packed.parts.size > 0 && (await gatherParts(folder, dest, packed.parts));
    if (packed.parts.size > 0 && !isFolder) packed = await pack(false);
    await writeFile(manifest, JSON.stringify(packed.manifest), { mode: 0o600 });
    await writeSegments(segments, packed.segments);
    return { bytes: packed.bytes, isFolder };
  }

  async release(id: string): Promise<void> {
    this.#held.delete(id);
  }

  #get(id: string): Held {
    const selection = this.#held.get(id);
    if (selection !== undefined) return selection;
    // The thread that stored it has stopped.
    throw new AppError('conflict', 'The list of files to send was lost. Nothing was sent. Submit again.');
  }
}

/** Undefined unless all of it is still stored and fits together. */
async function readPacking({ archive, ...paths }: PackedFiles): Promise<EarlierPacking | undefined> {
  const segments = await readSegments(paths.segments);
  const manifest = segments && (await readArchiveManifest(paths.manifest));
  if (segments === undefined || manifest === undefined) return undefined;
  const files = segments.reduce((sum, segment) => sum + segment.files, 0);
  return files === manifest.length ? { archive, segments, manifest } : undefined;
}

/** A selection with more files; they replace those with the same path. */
export function withFiles(selection: Selection, added: readonly SelectedFile[]): Selection {
  const paths = new Set(added.map(({ path }) => path));
  const others = selection.files.filter(({ path }) => !paths.has(path));
  const files = [...others, ...added].toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  return { ...selection, files, totalBytes: files.reduce((sum, { size }) => sum + size, 0) };
}
