import { AppError } from '../../core/errors.ts';
import { Node } from '../graph/node.ts';
import { optionShape } from '../graph/unit.ts';
import { type OptionShape, requireWholeNumber } from '../schema/optionShape.ts';
import type { RagIndex } from './ragIndex.ts';
import type { RAGNodeOptions, RetrievedChunk } from './ragOptions.ts';

interface Query {
  readonly query: string;
  readonly topK: number;
}

const RAG_OPTIONS: OptionShape = {
  sources: 'string or list',
  queryKey: 'string',
  contextKey: 'string',
  chunksKey: 'string',
  nextAction: 'string',
  vectorIndex: 'boolean',
  embeddingProvider: 'string',
  embeddingModel: 'string',
  embeddingApiKey: 'string',
  embeddingBaseUrl: 'string',
  localModelPath: 'string',
  persistPath: 'string',
  chunkMode: 'string',
  topK: 'number',
};

const CHUNK_MODES: readonly string[] = ['smart', 'paragraphs', 'sentences', 'fixed'];

/**
 * Retrieves the chunks of its sources that answer `shared[queryKey]`: writes them to `shared[chunksKey]` and their text to
 * `shared[contextKey]`. An empty query returns no chunks.
 */
export class RAGNode<S extends object = object> extends Node<S, Query, readonly RetrievedChunk[], string> {
  readonly #options: RAGNodeOptions;
  readonly #index: Promise<RagIndex>;
  #ready: Promise<void>;

  /**
   * @throws RangeError if `topK` is not a whole number above 0, TypeError for an option of another type, AppError `bad-input` for an unknown
   * `chunkMode`.
   */
  constructor(options: RAGNodeOptions = {}) {
    super(options);
    const { topK = 5, chunkMode = 'smart', sources = [] } = options;
    requireWholeNumber(`topK of "${this.name}"`, topK);
    if (!CHUNK_MODES.includes(chunkMode)) {
      throw new AppError(
        'bad-input',
        `chunkMode of "${this.name}" is "${chunkMode}"; choose one of ${CHUNK_MODES.join(', ')}.`,
      );
    }
    this.#options = options;
    this.#index = import('./ragIndex.ts').then(({ RagIndex: Index }) => Index.open({ ...options, chunkMode }));
    this.#ready = this.#index.then(() => undefined);
    this.#ready.catch(() => {}); // reported by the run that needs it
    for (const source of typeof sources === 'string' ? [sources] : sources) this.addSource(source);
  }

  /** @internal */
  override get [optionShape](): OptionShape {
    return { ...RAG_OPTIONS, ...super[optionShape] };
  }

  /** Resolves when all sources added so far are indexed; rejects with the error of the first that could not be read. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Indexes one more file, folder or address, after those added before. */
  addSource(source: string): this {
    if (typeof source !== 'string' || source === '') {
      throw new TypeError(`A source of "${this.name}" must be the path of a file or a folder, or an address.`);
    }
    this.#ready = this.#ready.then(async () => (await this.#index).addSource(source));
    this.#ready.catch(() => {}); // reported by the run that needs it
    return this;
  }

  override prep(shared: S): Query {
    const key = this.#options.queryKey ?? 'query';
    const query: unknown = Reflect.get(shared, key);
    if (query !== undefined && query !== null && typeof query !== 'string') {
      throw new AppError('bad-input', `shared.${key} must be the query of "${this.name}", a string.`);
    }
    return { query: query ?? '', topK: this.#options.topK ?? 5 };
  }

  override async exec({ query, topK }: Query): Promise<readonly RetrievedChunk[]> {
    await this.#ready;
    if (query.trim() === '') return [];
    return (await this.#index).search(query, topK);
  }

  override post(shared: S, _query: Query, chunks: readonly RetrievedChunk[]): string {
    Reflect.set(shared, this.#options.chunksKey ?? 'rag_chunks', chunks);
    Reflect.set(shared, this.#options.contextKey ?? 'rag_context', chunks.map(({ text }) => text).join('\n\n'));
    return this.#options.nextAction ?? 'default';
  }
}
