import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import type { EnergyGate } from './energyGate.ts';
import type { Query } from '../search/query.ts';
import type { Source } from '../segments/segment.ts';
import type { Embedder } from './embedTexts.ts';
import { FolderVectors } from './folderVectors.ts';
import type { NearChunk } from '../search/nearChunks.ts';
import type { SemanticState } from './folderVectors.ts';
import { type EmbeddingChoice, readEmbeddingChoice } from './embeddingChoice.ts';

// Files that are saved in quick succession are embedded together.
const QUIET_MS = 1000;
// Another window may be embedding the folder; its result is read after this time.
const RETRY_MS = 5000;
// A few seconds of a model's work, which is acceptable on battery.
const FEW_TEXTS = 100;
// As many results as keyword ranking contributes to the combination.
const NEAR = 100;

/** Opens the model that was selected for a folder; undefined for one that is not used here. */
export type OpenModel = (choice: EmbeddingChoice) => Promise<Embedder & Disposable> | undefined;

export interface SemanticIndexOptions {
  /** The real path of the folder. */
  readonly root: string;
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly energy: EnergyGate;
  readonly openModel: OpenModel;
  readonly sources: () => Iterable<Source>;
  readonly onDidChange: () => void;
}

/** Semantic ranking of an open folder with the selected model. Vectors are updated in the background, after all other work. */
export class SemanticIndex implements Disposable {
  readonly #options: SemanticIndexOptions;
  readonly #end = new AbortController();
  readonly #energy: Disposable;
  #embedder: (Embedder & Disposable) | undefined;
  #vectors: FolderVectors | undefined;
  /** Why the model could not be opened. */
  #failure: string | undefined;
  #isPaused = false;
  #changed = Promise.withResolvers<void>();
  /** Stops the current embedding. */
  #work = new AbortController();
  #opening: Promise<void>;

  constructor(options: SemanticIndexOptions) {
    this.#options = options;
    this.#energy = options.energy.onDidChange(() => {
      this.#work.abort();
      this.update();
    });
    this.#opening = this.#open();
    this.#run().catch(() => {}); // only disposal stops it
  }

  /** Undefined if the folder uses keyword ranking. */
  get state(): SemanticState | undefined {
    return this.#failure === undefined ? this.#vectors?.state : { type: 'failed', reason: this.#failure };
  }

  /** Applies another choice. */
  reload(): Promise<void> {
    this.#work.abort();
    this.#opening = this.#opening.then(() => this.#open());
    this.update();
    return this.#opening;
  }

  /** The folder has changed, or may have. */
  update(): void {
    this.#changed.resolve();
  }

  /** The results closest to a query; none while chunks lack vectors. Each call runs the model. */
  async nearest(query: Query): Promise<readonly NearChunk[]> {
    const accepts = (path: string): boolean => query.paths.accepts(path);
    return (await this.#vectors?.nearest(query.text, NEAR, { accepts, signal: this.#end.signal })) ?? [];
  }

  pause(): void {
    this.#isPaused = true;
    this.#work.abort();
  }

  resume(): void {
    this.#isPaused = false;
    this.update();
  }

  dispose(): void {
    this.#end.abort();
    this.#energy.dispose();
    this.#work.abort();
    this.#close();
  }

  async #open(): Promise<void> {
    this.#close();
    const { root, home, openModel, onDidChange } = this.#options;
    try {
      const choice = await readEmbeddingChoice(home, root);
      const model = choice === undefined ? undefined : openModel(choice);
      if (model === undefined) return;
      const embedder = await model;
      this.#embedder = embedder;
      this.#vectors = await FolderVectors.open({ root, home, embedder });
      if (this.#end.signal.aborted) this.#close();
    } catch (error) {
      this.#failure = messageOf(error);
    } finally {
      onDidChange();
    }
  }

  #close(): void {
    this.#vectors?.dispose();
    this.#embedder?.dispose();
    [this.#vectors, this.#embedder, this.#failure] = [undefined, undefined, undefined];
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      await this.#changed.promise;
      await sleep(QUIET_MS, undefined, { signal });
      this.#changed = Promise.withResolvers<void>();
      await this.#opening;
      if (!this.#isPaused) await this.#embed();
    }
  }

  async #embed(): Promise<void> {
    const { sources, onDidChange, energy } = this.#options;
    const mostTexts = energy.isClosed ? FEW_TEXTS : Infinity;
    this.#work = new AbortController();
    const signal = AbortSignal.any([this.#end.signal, this.#work.signal]);
    try {
      await this.#vectors?.embed(sources(), { signal, mostTexts, onProgress: onDidChange });
    } catch (error) {
      if (error instanceof AppError && error.code === 'conflict') await this.#retry();
      // The state shows any other failure, and the next change tries again.
    }
    onDidChange();
  }

  async #retry(): Promise<void> {
    await sleep(RETRY_MS, undefined, { signal: this.#end.signal });
    await this.reload();
  }
}
