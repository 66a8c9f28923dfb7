import type { ChunkMode } from '../../retrieval/chunks/chunk.ts';
import type { NodeOptions } from '../graph/node.ts';

export interface RAGNodeOptions extends Pick<NodeOptions, 'maxRetries' | 'wait' | 'name'> {
  /** Files, folders, http(s) addresses and texts; read once, from construction on. */
  readonly sources?: RAGSource | readonly RAGSource[];
  /** Keys of the shared state; `query`, `rag_context`, `rag_chunks` and `rag_left_out` by default. */
  readonly queryKey?: string;
  readonly contextKey?: string;
  readonly chunksKey?: string;
  readonly leftOutKey?: string;
  /** The most chunks for a query; 5 if absent. */
  readonly topK?: number;
  /** The action that `post` returns; `default` if absent. */
  readonly nextAction?: string;
  /** Semantic ranking with vectors instead of BM25; true if absent and there is `embed`. */
  readonly vectorIndex?: boolean;
  /**
   * The vectors of texts, in their order and of one length, in place of an embedding provider. With `persistPath`, `embeddingModel` must name
   * its model, because vectors of different models cannot be compared.
   */
  readonly embed?: (
    texts: readonly string[],
    options: { readonly signal?: AbortSignal | undefined },
  ) => Promise<readonly (Float32Array | readonly number[])[]>;
  /**
   * `local`, or a provider of LLMClient; `local` if absent, or with an `embeddingBaseUrl` the one with its host. Used with `vectorIndex` only,
   * like the next five.
   */
  readonly embeddingProvider?: string;
  /** The provider's usual one if absent. */
  readonly embeddingModel?: string;
  readonly embeddingApiKey?: string;
  readonly embeddingBaseUrl?: string;
  /** The folder with a local model, which is then never downloaded: `<localModelPath>/<embeddingModel>/onnx/model.onnx`. */
  readonly localModelPath?: string;
  /** The folder where vectors are stored between runs. */
  readonly persistPath?: string;
  readonly chunkMode?: ChunkMode;
}

/** The path of a file or folder, an http(s) address, or a text in memory. */
export type RAGSource = string | RAGDocument;

/** A text in memory, with a name for citations. */
export interface RAGDocument {
  readonly source: string;
  readonly text: string;
}

/** A file of a folder that was not read, and why. */
export interface LeftOutSource {
  readonly source: string;
  readonly reason: string;
}

/** A part of a source, with its location for citations. */
export interface RetrievedChunk {
  readonly text: string;
  readonly source: string;
  /** Of a PDF, from 1. */
  readonly page?: number;
  /** From 1; of a PDF within the text of its page. */
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
}
