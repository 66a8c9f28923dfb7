export { AppError } from '../core/errors.ts';
export { BatchNode, type ParallelBatchOptions, ParallelBatchNode } from './graph/batch.ts';
export { BudgetError } from './run/budget.ts';
export { BatchFlow, ParallelBatchFlow, type ParallelBatchFlowOptions } from './graph/batchFlow.ts';
export { checkpointFile, readCheckpoint } from './records/checkpoint.ts';
export { type ActionOf, Flow, type FlowOptions } from './graph/flow.ts';
export { BaseNode, Node, type NodeOptions } from './graph/node.ts';
export { batchNode, type BatchNodeDefinition, node, type NodeDefinition } from './graph/functionNode.ts';
export { ParallelFlow, type ParallelFlowOptions } from './graph/parallelFlow.ts';
export { Recording } from './records/recording.ts';
export type { ExecContext, NodeContext } from './run/execContext.ts';
export { pause, type Pause, PausedError, type PauseRequest } from './run/pause.ts';
export type { RunOptions } from './run/runOptions.ts';
export type { Checkpoint } from './records/recordSchemas.ts';
export type { TraceEvent } from './records/trace.ts';
export { TraceFile } from './records/traceFile.ts';
export { type DeepPartial, LLMClient, type LLMClientOptions } from './chat/llmClient.ts';
export type {
  AskOptions,
  ChatMessage,
  ChatReply,
  ContentPart,
  ModelParams,
  ToolCall,
  ToolOptions,
  Usage,
} from './chat/chatMessages.ts';
export { type RecordedReply, recordedModel } from './chat/recordedModel.ts';
export { ToolNode, type ToolNodeOptions } from './chat/toolNode.ts';
export {
  type RunToolsOptions,
  type ToolEvent,
  ToolLimitError,
  type ToolRun,
  type ToolStep,
} from './chat/toolLoop.ts';
export type { ToolStream } from './chat/toolStream.ts';
export type { HistoryPolicy } from './chat/conversationLimits.ts';
export { RefusalError } from './chat/modelRequests.ts';
export type { Schema } from './schema/standardSchema.ts';
export type { McpServer, McpTools } from './tools/mcpServer.ts';
export { mcpTools } from './tools/mcpTools.ts';
export { tool, type Tool, type ToolDefinition } from './tools/tool.ts';
export { RAGNode } from './rag/ragNode.ts';
export type { LeftOutSource, RAGDocument, RAGNodeOptions, RAGSource, RetrievedChunk } from './rag/ragOptions.ts';
