import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Disposable, Emitter } from '../../core/processes/lifetime.ts';
import { Highlighter, type QueryWords, type TextMatches } from '../index/highlights.ts';
import type { IndexHit } from '../index/indexSearch.ts';
import { parseQuery, plainQuery, type Query } from '../search/query.ts';
import { EnergyGate } from '../semantic/energyGate.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import {
  type DiskChange,
  FolderIndex,
  type FolderIndexOptions,
  type FolderStatus,
  type WatchedFolder,
} from './folderIndex.ts';
import type { SkippedPath } from './indexUpdater.ts';

const STATUS_EVERY_MS = 250;
// The start of a longer text is enough to know its topic.
const MOST_RELATED = 4000;
// The number of results that may be chunks of the text itself.
const OVERLAPPING = 10;

export interface SearchRequest {
  readonly limit: number;
  /** Whether the last word is still being typed, so that it matches all words that begin with it. */
  readonly isTyping?: boolean | undefined;
  /** Whether to use semantic ranking if a model is selected. By default only when the user is not typing, because it runs the model. */
  readonly isSemantic?: boolean | undefined;
  /** Whether each matching chunk is a result, instead of each file. */
  readonly isByPlace?: boolean | undefined;
  /** The folders to search, with the paths under which they were opened; undefined for all. */
  readonly folders?: readonly string[] | undefined;
}

interface RelatedRequest extends Omit<SearchRequest, 'isTyping' | 'isSemantic' | 'isByPlace'> {
  /** The location of the text, absolute and 1-based, which is left out of the results. */
  readonly at?: { readonly path: string; readonly startLine: number; readonly endLine: number } | undefined;
}

/** A search result. `path` is relative to `folder`, which is the path under which the folder was opened. */
export interface SearchHit extends IndexHit {
  readonly folder: string;
}

/** The indexes of the open folders, kept up to date in the background; runs in a process of its own. */
export class IndexServer implements Disposable {
  readonly #options: FolderIndexOptions;
  readonly #changed = new Emitter<void>();
  readonly #energy = new EnergyGate();
  /** The texts of unsaved files by their absolute paths. */
  readonly #overlays = new Map<string, string>();
  #folders = new Map<string, FolderIndex>();
  #isPaused = false;

  constructor(options: FolderIndexOptions) {
    this.#options = options;
  }

  /** Keeps exactly these folders up to date from now on. Returns at once and builds in the background. */
  async open(folders: readonly WatchedFolder[]): Promise<void> {
    const before = this.#folders;
    this.#folders = new Map();
    for (const folder of folders) {
      const earlier = before.get(folder.path);
      const isSame = earlier !== undefined && isDeepStrictEqual(earlier.folder, folder);
      this.#folders.set(folder.path, isSame ? earlier : this.#add(folder));
      if (isSame) before.delete(folder.path);
    }
    for (const closed of before.values()) closed.dispose();
    this.#changed.fire();
  }

  /** Reports changes, which are indexed soon and in batches. A folder's own path means that anything in it may have changed. */
  async notify(changes: readonly DiskChange[]): Promise<void> {
    for (const folder of this.#folders.values()) folder.notify(changes);
  }

  /** Makes searches use the editor's text of a file; undefined restores the version on disk. The text is never stored. */
  async shareUnsavedText(path: string, text: string | undefined): Promise<void> {
    if (text === undefined) this.#overlays.delete(path);
    else this.#overlays.set(path, text);
    for (const folder of this.#folders.values()) {
      const inside = folder.pathOf(path);
      if (inside !== undefined) folder.index?.setOverlay(inside, text);
    }
  }

  /** The best results in all folders, best first. Files that are not indexed yet are not found. */
  searchFolders(query: string, request: SearchRequest): Promise<readonly SearchHit[]> {
    const { isTyping = false, isSemantic = !isTyping } = request;
    return this.#search(parseQuery(query, { isTyping }), { ...request, isSemantic });
  }

  /** The query with its misspelt words corrected, which a search uses; undefined if each word is known in one of the folders. */
  async correctSpelling(
    query: string,
    { isTyping, folders }: Pick<SearchRequest, 'isTyping' | 'folders'>,
  ): Promise<string | undefined> {
    const chosen = this.#chosen(folders);
    const corrected = await Promise.all(
      chosen.map((folder) => folder.read((index) => index.correct(query, { isTyping }))),
    );
    const best = corrected.find((text) => text !== undefined);
    if (best === undefined) return undefined;
    // A folder without corrections either contains the words or has no similar ones.
    const unknown = parseQuery(wordsMissingIn(best, query), { isTyping });
    const silent = chosen.filter((_, at) => corrected[at] === undefined);
    const hits = await Promise.all(silent.map((folder) => folder.read((index) => index.search(unknown, 1))));
    return hits.some((found = []) => found.length > 0) ? undefined : best;
  }

  /** Finds the parts of each text that match the words of a query. */
  async highlight(query: QueryWords, texts: readonly string[]): Promise<readonly TextMatches[]> {
    const highlighter = new Highlighter(query);
    return texts.map((text) => highlighter.matchesOf(text));
  }

  /** Results that are similar to a text. */
  async related(text: string, { limit, at, folders }: RelatedRequest): Promise<readonly SearchHit[]> {
    const hits = await this.#search(plainQuery(text.slice(0, MOST_RELATED)), {
      limit: limit + OVERLAPPING,
      isSemantic: true,
      isByPlace: true,
      folders,
    });
    const isSelf = ({ folder, path, startLine, endLine }: SearchHit): boolean =>
      at !== undefined &&
      startLine <= at.endLine &&
      endLine >= at.startLine &&
      this.#folders.get(folder)?.pathOf(at.path) === path;
    return hits.filter((hit) => !isSelf(hit)).slice(0, limit);
  }

  async status(): Promise<readonly FolderStatus[]> {
    return [...this.#folders.values()].map(({ status }) => status);
  }

  /** Calls `onStatus` now and after each change, at most a few times per second, until the signal aborts. */
  async follow(
    onStatus: (status: readonly FolderStatus[]) => void,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    while (!signal.aborted) {
      const change = this.#nextChange(signal);
      onStatus(await this.status());
      await change;
      await sleep(STATUS_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Stops indexing changes. The existing index can still be searched, and other windows continue. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    for (const folder of this.#folders.values()) folder.pause();
  }

  /** Indexes what changed meanwhile and what changes from now on, including work that waits in order to save energy. */
  async resume(): Promise<void> {
    this.#isPaused = false;
    this.#energy.set(false);
    for (const folder of this.#folders.values()) folder.resume();
  }

  /** On battery power, large builds and embedding wait; single changes are indexed as usual. */
  async saveEnergy(isSaving: boolean): Promise<void> {
    this.#energy.set(isSaving);
  }

  /** Rebuilds the indexes of these folders, or of all. */
  async rebuild(folders?: readonly string[]): Promise<void> {
    for (const folder of this.#chosen(folders)) await folder.rebuild();
  }

  /** Applies the ranking that was selected for the open folders, semantic or keyword. */
  async reloadEmbeddingModel(): Promise<void> {
    await Promise.all([...this.#folders.values()].map((folder) => folder.reloadEmbeddingModel()));
  }

  /** The first `limit` unindexed paths of a folder, sorted, and their total number. */
  async skipped(
    folder: string,
    { limit }: { readonly limit: number },
  ): Promise<{ readonly total: number; readonly items: readonly SkippedPath[] }> {
    const items = (await this.#folders.get(folder)?.skipped()) ?? [];
    return { total: items.length, items: items.slice(0, limit) };
  }

  /** Whether there is work to do, or opening the folders again would take long. If not, the process can be stopped. */
  async isNeeded(): Promise<boolean> {
    return [...this.#folders.values()].some((folder) => folder.isNeeded);
  }

  /** Resolves when all changes reported so far are indexed, or cannot be. */
  async settle(): Promise<void> {
    await Promise.all([...this.#folders.values()].map((folder) => folder.settle()));
  }

  dispose(): void {
    for (const folder of this.#folders.values()) folder.dispose();
    this.#energy.dispose();
    this.#changed.dispose();
  }

  #add(folder: WatchedFolder): FolderIndex {
    const added = new FolderIndex(folder, { ...this.#options, energy: this.#energy, overlays: this.#overlays });
    added.onDidChange(() => this.#changed.fire());
    if (this.#isPaused) added.pause();
    return added;
  }

  async #search(query: Query, { limit, isSemantic, isByPlace, folders }: SearchRequest): Promise<readonly SearchHit[]> {
    const hits = await Promise.all(
      this.#chosen(folders).map(async (folder) => {
        const near = isSemantic === true ? await folder.nearest(query) : undefined;
        const best = await folder.read((index) => index.search(query, limit, { near, isByPlace }));
        return (best ?? []).map((hit): SearchHit => ({ ...hit, folder: folder.folder.path }));
      }),
    );
    return withoutRepeats(hits.flat())
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }

  #chosen(folders: readonly string[] | undefined): readonly FolderIndex[] {
    return [...this.#folders.values()].filter(({ folder }) => folders?.includes(folder.path) ?? true);
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = this.#changed.event(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    return promise.finally(() => listener.dispose());
  }
}

/** Removes the results of an outer folder for files of which an inner one has results too, so that each file is listed once. */
function withoutRepeats(hits: readonly SearchHit[]): SearchHit[] {
  const innermost = new Map<string, string>();
  for (const { folder, path } of hits) {
    const file = join(folder, path);
    if (folder.length > (innermost.get(file) ?? '').length) innermost.set(file, folder);
  }
  return hits.filter(({ folder, path }) => innermost.get(join(folder, path)) === folder);
}

/** The words of a query that its corrected form does not have. */
function wordsMissingIn(corrected: string, query: string): string {
  const kept = new Set<string>();
  scanWords(corrected, (word) => kept.add(word));
  const missing: string[] = [];
  scanWords(query, (word) => kept.has(word) || missing.push(word));
  return missing.join(' ');
}
