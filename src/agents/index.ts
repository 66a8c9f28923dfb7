export { AppError } from '../core/errors.ts';
export { BatchNode, type ParallelBatchOptions, ParallelBatchNode } from './graph/batch.ts';
export { checkpointFile, readCheckpoint } from './run/checkpoint.ts';
export { type ActionOf, Flow, type FlowOptions } from './graph/flow.ts';
export { BaseNode, Node, type NodeOptions } from './graph/node.ts';
export { Recording } from './run/recording.ts';
export type { ExecContext, NodeContext } from './run/context.ts';
export type { RunOptions } from './run/runOptions.ts';
export type { Checkpoint } from './run/schemas.ts';
export type { TraceEvent } from './run/trace.ts';
export { TraceFile } from './run/traceFile.ts';
export {
  type AskOptions,
  type ChatMessage,
  type ChatReply,
  LLMClient,
  type LLMClientOptions,
  type ToolCall,
  type ToolOptions,
} from './llm/llmClient.ts';
export { RAGNode } from './rag/ragNode.ts';
export type { RAGNodeOptions, RetrievedChunk } from './rag/ragOptions.ts';
