import type { NodeType } from './graph.ts';

/** The type of a node by the class of the library that it extends. */
export const NODE_TYPES: Readonly<Record<string, NodeType>> = {
  BaseNode: 'node',
  Node: 'node',
  BatchNode: 'batch',
  ParallelBatchNode: 'parallel',
  Flow: 'flow',
  BatchFlow: 'batch',
  ParallelBatchFlow: 'parallel',
  ParallelFlow: 'flow',
  RAGNode: 'rag',
  ToolNode: 'node',
};
