import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Disposable, Emitter } from '../../core/processes/lifetime.ts';
import type {
  FileChange,
  FolderStatus,
  IndexService,
  OpenFolder,
  SkippedPath,
  RelatedRequest,
  SearchRequest,
  ServiceHit,
} from './indexService.ts';
import { EnergyGate } from '../semantic/energyGate.ts';
import type { FileSelector } from './fileSelector.ts';
import type { ReadCommits } from '../index/folderHistory.ts';
import { type AskedWords, Highlighter, type TextMatches } from '../index/highlights.ts';
import { LiveFolder } from './liveFolder.ts';
import { parseQuery, plainQuery, type Query } from '../search/query.ts';
import type { OpenModel } from '../semantic/semanticIndex.ts';
import { scanWords } from '../tokenizer/scanWords.ts';

export interface LiveIndexOptions {
  /** FARWHARF_HOME. */
  readonly home: string;
  /** The program of the build threads. */
  readonly workerProgram: string;
  readonly selector: FileSelector;
  /** If undefined, past commits are not used. */
  readonly readCommits?: ReadCommits | undefined;
  /** Opens the model that was selected for a folder's semantic ranking, if any. If undefined, keyword ranking is used. */
  readonly openModel?: OpenModel | undefined;
}

const STATUS_EVERY_MS = 250;
// The start of a longer text is enough to know its topic.
const MOST_RELATED = 4000;
// The number of results that may be chunks of the text itself.
const OVERLAPPING = 10;

/** The indexes of the open folders; runs in a thread of its own. */
export class LiveIndex implements IndexService, Disposable {
  readonly #options: LiveIndexOptions;
  readonly #changed = new Emitter<void>();
  readonly #energy = new EnergyGate();
  #folders = new Map<string, LiveFolder>();
  #isPaused = false;

  constructor(options: LiveIndexOptions) {
    this.#options = options;
  }

  async open(folders: readonly OpenFolder[]): Promise<void> {
    const before = this.#folders;
    this.#folders = new Map();
    for (const folder of folders) {
      const known = before.get(folder.path);
      const isSame = known !== undefined && isDeepStrictEqual(known.folder, folder);
      this.#folders.set(folder.path, isSame ? known : this.#add(folder));
      if (isSame) before.delete(folder.path);
    }
    for (const gone of before.values()) gone.dispose();
    this.#changed.fire();
  }

  async notify(changes: readonly FileChange[]): Promise<void> {
    for (const live of this.#folders.values()) live.notify(changes);
  }

  async setOverlay(path: string, text: string | undefined): Promise<void> {
    for (const live of this.#folders.values()) live.setOverlay(path, text);
  }

  search(query: string, request: SearchRequest): Promise<readonly ServiceHit[]> {
    const { limit, isTyping = false, isSemantic = !isTyping, isByPlace, folders } = request;
    return this.#search(parseQuery(query, { isTyping }), { limit, isSemantic, isByPlace, folders });
  }

  async correct(
    query: string,
    { isTyping, folders }: Pick<SearchRequest, 'isTyping' | 'folders'>,
  ): Promise<string | undefined> {
    const chosen = this.#chosen(folders);
    const corrected = await Promise.all(chosen.map((live) => live.correct(query, { isTyping })));
    const best = corrected.find((text) => text !== undefined);
    if (best === undefined) return undefined;
    // A folder without corrections either contains the words or has no similar ones.
    const unknown = parseQuery(wordsMissingIn(best, query), { isTyping });
    const silent = chosen.filter((_, index) => corrected[index] === undefined);
    const hits = await Promise.all(silent.map((live) => live.search(unknown, { limit: 1 })));
    return hits.flat().length > 0 ? undefined : best;
  }

  async highlight(query: AskedWords, texts: readonly string[]): Promise<readonly TextMatches[]> {
    const highlighter = new Highlighter(query);
    return texts.map((text) => highlighter.matchesOf(text));
  }

  async related(text: string, { limit, at, folders }: RelatedRequest): Promise<readonly ServiceHit[]> {
    const hits = await this.#search(plainQuery(text.slice(0, MOST_RELATED)), {
      limit: limit + OVERLAPPING,
      isSemantic: true,
      isByPlace: true,
      folders,
    });
    const isSelf = ({ folder, path, startLine, endLine }: ServiceHit): boolean =>
      at !== undefined &&
      startLine <= at.endLine &&
      endLine >= at.startLine &&
      this.#folders.get(folder)?.isAt(path, at.path) === true;
    return hits.filter((hit) => !isSelf(hit)).slice(0, limit);
  }

  async status(): Promise<readonly FolderStatus[]> {
    return [...this.#folders.values()].map(({ status }) => status);
  }

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

  async pause(): Promise<void> {
    this.#isPaused = true;
    for (const live of this.#folders.values()) live.pause();
  }

  async resume(): Promise<void> {
    this.#isPaused = false;
    this.#energy.set(false);
    for (const live of this.#folders.values()) live.resume();
  }

  async saveEnergy(isSaving: boolean): Promise<void> {
    this.#energy.set(isSaving);
  }

  async rebuild(folders?: readonly string[]): Promise<void> {
    for (const [path, live] of this.#folders) if (folders?.includes(path) ?? true) await live.rebuild();
  }

  async reloadEmbeddingModel(): Promise<void> {
    await Promise.all([...this.#folders.values()].map((live) => live.reloadEmbeddingModel()));
  }

  async skipped(
    folder: string,
    { limit }: { readonly limit: number },
  ): Promise<{ readonly total: number; readonly items: readonly SkippedPath[] }> {
    const items = (await this.#folders.get(folder)?.skipped()) ?? [];
    return { total: items.length, items: items.slice(0, limit) };
  }

  async isNeeded(): Promise<boolean> {
    return [...this.#folders.values()].some((live) => live.isNeeded);
  }

  async settle(): Promise<void> {
    await Promise.all([...this.#folders.values()].map((live) => live.settle()));
  }

  dispose(): void {
    for (const live of this.#folders.values()) live.dispose();
    this.#energy.dispose();
    this.#changed.dispose();
  }

  #add(folder: OpenFolder): LiveFolder {
    const live = new LiveFolder(folder, { ...this.#options, energy: this.#energy });
    live.onDidChange(() => this.#changed.fire());
    if (this.#isPaused) live.pause();
    return live;
  }

  async #search(
    query: Query,
    { folders, ...request }: Omit<SearchRequest, 'isTyping'>,
  ): Promise<readonly ServiceHit[]> {
    const chosen = this.#chosen(folders);
    const hits = await Promise.all(chosen.map((live) => live.search(query, request)));
    return withoutRepeats(hits.flat())
      .sort((a, b) => b.score - a.score)
      .slice(0, request.limit);
  }

  #chosen(folders: readonly string[] | undefined): readonly LiveFolder[] {
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
function withoutRepeats(hits: readonly ServiceHit[]): ServiceHit[] {
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
