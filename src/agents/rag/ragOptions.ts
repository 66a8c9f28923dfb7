import type { ChunkMode } from '../../retrieval/chunks/chunk.ts';
import type { NodeOptions } from '../graph/node.ts';

export interface RAGNodeOptions extends Pick<NodeOptions, 'maxRetries' | 'wait' | 'name'> {
  /** Files, folders and http(s) addresses; read once, from construction on. */
  readonly sources?: string | readonly string[];
  /** Keys of the shared state; `query`, `rag_context` and `rag_chunks` by default. */
  readonly queryKey?: string;
  readonly contextKey?: string;
  readonly chunksKey?: string;
  /** The most chunks for a query; 5 if absent. */
  readonly topK?: number;
  /** The action that `post` returns; `default` if absent. */
  readonly nextAction?: string;
  /** Semantic ranking with vectors instead of BM25. */
  readonly vectorIndex?: boolean;
  /** `local`, or a provider of LLMClient; used with `vectorIndex` only, like the next five. */
  readonly embeddingProvider?: string;
  readonly embeddingModel?: string;
  readonly embeddingApiKey?: string;
  readonly embeddingBaseUrl?: string;
  /** The folder with a local model, which is then never downloaded: `<localModelPath>/<embeddingModel>/onnx/model.onnx`. */
  readonly localModelPath?: string;
  /** The folder where vectors are stored between runs. */
  readonly persistPath?: string;
  readonly chunkMode?: ChunkMode;
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
