const FLOW_CLASSES = ['Flow', 'BatchFlow', 'ParallelBatchFlow', 'ParallelFlow'] as const;
const NODE_CLASSES = [
  'BaseNode',
  'Node',
  'BatchNode',
  'ParallelBatchNode',
  'RAGNode',
  'ToolNode',
  ...FLOW_CLASSES,
] as const;
/** The classes of `farwharf/agents` that a reading knows. */
export const LIBRARY_NAMES = [...NODE_CLASSES, 'LLMClient'] as const;
export type LibraryName = (typeof LIBRARY_NAMES)[number];

/** Functions that make a node of a class from an object with its hooks and options. */
export const NODE_FUNCTIONS: ReadonlyMap<string, LibraryName> = new Map([
  ['node', 'Node'],
  ['batchNode', 'ParallelBatchNode'],
]);

/** Whether instances of a class of the library contain nodes. */
export function isFlowClass(name: LibraryName | undefined): boolean {
  return FLOW_CLASSES.some((one) => one === name);
}
