export { AppError } from '../core/errors.ts';
export { BatchNode, type ParallelBatchOptions, ParallelBatchNode } from './batch.ts';
export { checkpointFile, readCheckpoint } from './checkpoint.ts';
export { type ActionOf, Flow, type FlowOptions } from './flow.ts';
export { BaseNode, Node, type NodeOptions } from './node.ts';
export { Recording } from './recording.ts';
export type { ExecContext } from './run.ts';
export type { RunOptions } from './runOptions.ts';
export type { Checkpoint } from './schemas.ts';
export type { TraceEvent } from './trace.ts';
export { TraceFile } from './traceFile.ts';
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
