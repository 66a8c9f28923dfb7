import { AppError } from '../../core/errors.ts';
import { fieldOf } from '../../core/jsonFields.ts';
import { Node } from '../graph/node.ts';
import { optionShape } from '../graph/unit.ts';
import { type OptionShape, requireWholeNumber } from '../schema/optionShape.ts';
import type { RagIndex } from './ragIndex.ts';
import type { LeftOutSource, RAGNodeOptions, RAGSource, RetrievedChunk } from './ragOptions.ts';

interface Query {
  readonly query: string;
  readonly topK: number;
}

const RAG_OPTIONS: OptionShape = {
  sources: 'any',
  queryKey: 'string',
  contextKey: 'string',
  chunksKey: 'string',
  leftOutKey: 'string',
  nextAction: 'string',
  vectorIndex: 'boolean',
  embed: 'function',
  embeddingProvider: 'string',
  embeddingModel: 'string',
  embeddingApiKey: 'string',
  embeddingBaseUrl: 'string',
  localModelPath: 'string',
  persistPath: 'string',
  chunkMode: 'string',
  topK: 'number',
};

const MAX_WARNED = 5;
const CHUNK_MODES: readonly string[] = ['smart', 'paragraphs', 'sentences', 'fixed'];

/**
 * Retrieves the chunks of its sources that answer `shared[queryKey]`: writes them to `shared[chunksKey]`, and their text, each with its
 * number and source for citations, to `shared[contextKey]`. An empty query returns no chunks. Files of folders that could not be read are in
 * `shared[leftOutKey]`, and said once in a warning of the process.
 */
export class RAGNode<S extends object = object> extends Node<S, Query, readonly RetrievedChunk[], string> {
  readonly #options: RAGNodeOptions;
  readonly #index: Promise<RagIndex>;
  readonly #leftOut: LeftOutSource[] = [];
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
    const { embed, persistPath, embeddingModel } = options;
    if (embed !== undefined && persistPath !== undefined && embeddingModel === undefined) {
      throw new TypeError(
        `"${this.name}" stores the vectors of embed, so embeddingModel must name its model: vectors of another one cannot be compared.`,
      );
    }
    this.#options = options;
    this.#index = import('./ragIndex.ts').then(({ RagIndex: Index }) => Index.open({ ...options, chunkMode }));
    this.#ready = this.#index.then(() => undefined);
    this.#ready.catch(() => {}); // reported by the run that needs it
    for (const source of isList(sources) ? sources : [sources]) this.addSource(source);
  }

  /** @internal */
  override get [optionShape](): OptionShape {
    return { ...RAG_OPTIONS, ...super[optionShape] };
  }

  /** Resolves when all sources added so far are indexed; rejects with the error of the first that could not be read. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Indexes one more file, folder, address or text, after those added before. */
  addSource(source: RAGSource): this {
    if (!isSource(source)) {
      throw new TypeError(
        `A source of "${this.name}" must be the path of a file or a folder, an address, or a text: { source, text }.`,
      );
    }
    this.#ready = this.#ready.then(() => this.#add(source));
    this.#ready.catch(() => {}); // reported by the run that needs it
    return this;
  }

  async #add(source: RAGSource): Promise<void> {
    const leftOut = await (await this.#index).addSource(source);
    if (leftOut.length > 0 && typeof source === 'string') warnOf(leftOut, source);
    this.#leftOut.push(...leftOut);
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
    Reflect.set(shared, this.#options.contextKey ?? 'rag_context', chunks.map(cited).join('\n\n'));
    if (this.#leftOut.length > 0) Reflect.set(shared, this.#options.leftOutKey ?? 'rag_left_out', [...this.#leftOut]);
    return this.#options.nextAction ?? 'default';
  }
}

/** A chunk for a model: `[2] docs/tides.md:10-24` and its text. */
function cited({ text, source, page, startLine, endLine }: RetrievedChunk, index: number): string {
  const place = page === undefined ? `${source}:${startLine}-${endLine}` : `${source}, page ${page}`;
  return `[${index + 1}] ${place}\n${text}`;
}

function warnOf(leftOut: readonly LeftOutSource[], folder: string): void {
  const shown = leftOut.slice(0, MAX_WARNED).map(({ reason }) => `\n  ${reason}`);
  const more = leftOut.length > MAX_WARNED ? `\n  and ${leftOut.length - MAX_WARNED} more` : '';
  process.emitWarning(`Not all files of ${folder} can be searched:${shown.join('')}${more}`, {
    code: 'FARWHARF_LEFT_OUT',
  });
}

function isList(sources: RAGSource | readonly RAGSource[]): sources is readonly RAGSource[] {
  return Array.isArray(sources);
}

function isSource(source: unknown): source is RAGSource {
  if (typeof source === 'string') return source !== '';
  return ['source', 'text'].every((key) => typeof fieldOf(source, key) === 'string');
}
