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
}; /**
 * The graph of a flow as read from the source: plain data, so that it can be sent to a webview or a worker.
 * IDs come from names in the source, never from positions, so they stay the same when text above is edited.
 */

/** A position in a text: UTF-16 offset, line and column, all from 0, as editors count. */
export interface SourcePosition {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/** A range of a file; its end is exclusive. */
export interface SourceRange {
  /** The path as passed to the reader, or as resolved from a relative import. */
  readonly file: string;
  readonly start: SourcePosition;
  readonly end: SourcePosition;
}

/** Something that cannot be known without running the code. */
export interface Unread {
  readonly range: SourceRange;
  /** A message for people: what the source says, and why its value is unknown. */
  readonly reason: string;
}

export interface SyntaxProblem {
  readonly message: string;
  readonly range: SourceRange;
}

/** All flows of one file, with what a reader needs to explain them. */
export interface FlowFile {
  readonly file: string;
  /** The flows that the file creates, in the order of the source, then the flows of other files that are nested in them. */
  readonly flows: readonly FlowGraph[];
  /** Constructs that hide a part of a flow. */
  readonly unread: readonly Unread[];
  /** Uses of LLMClient, for checks of provider and model. */
  readonly models: readonly ModelUse[];
  /** Present while the text does not parse. */
  readonly syntaxError: SyntaxProblem | undefined;
  /** Whether the flows are from the last text that parsed; their ranges refer to that text. */
  readonly isStale: boolean;
  /** The other files that were read; a change to one of them may change this result. */
  readonly dependencies: readonly string[];
}

export interface FlowGraph {
  /** The variable, class or property path that holds the flow (`research`, `agent.lookUp`); `./other.ts#lookUp` in another file. */
  readonly id: string;
  /** The name that trace events use for the flow as the outermost unit. */
  readonly label: string;
  /** The class: `Flow`, or the flow's own. */
  readonly className: string;
  readonly summary: string | undefined;
  /** The expression that creates the flow, with the calls chained to it. */
  readonly range: SourceRange;
  /** The id of the first node; undefined if there is none or it is unknown. */
  readonly start: string | undefined;
  /** Whether its nodes are the branches of a ParallelFlow, which have neither a start nor connections. */
  readonly isBranches?: boolean;
  /** In the order in which the flow first uses them, which decides their labels. */
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  /** Connections that a later one for the same node and action replaces, which warns at run time. */
  readonly replaced?: readonly ReplacedEdge[];
  /** Calls of `run` on the flow. */
  readonly runs: readonly FlowRun[];
  /** Constructs that hide a part of this flow; empty if the graph is exact. */
  readonly unread: readonly Unread[];
}

/** A flow of type `batch` or `parallel` runs once for each item of an array. */
export type NodeType = 'node' | 'batch' | 'parallel' | 'flow' | 'rag' | 'unknown';

export interface FlowNode {
  /** Unique in its flow: the variable or property path that holds the node, or `new Work` for an inline node. */
  readonly id: string;
  /** The name of the node in trace events of this flow, with `~2` for the second node of that name. */
  readonly label: string;
  readonly className: string;
  readonly type: NodeType;
  /** The first sentence of the comment above the instance, or else above its class. */
  readonly summary: string | undefined;
  readonly ranges: NodeRanges;
  readonly actions: NodeActions;
  readonly reads: readonly KeyAccess[];
  readonly writes: readonly KeyAccess[];
  /** Uses of the shared state whose keys are unknown. */
  readonly unreadKeys: readonly Unread[];
  /** The id of the nested graph in the same FlowFile, if the node is a flow that could be read. */
  readonly flow: string | undefined;
}

interface NodeRanges {
  /** The `new` expression. */
  readonly instance: SourceRange;
  /** Absent for classes of the library. */
  readonly class: SourceRange | undefined;
  /** The hooks, each from its name to its end, in the class that defines it. */
  readonly prep: SourceRange | undefined;
  readonly exec: SourceRange | undefined;
  readonly post: SourceRange | undefined;
}

/** What `post` can return. */
export interface NodeActions {
  readonly known: readonly ReturnedAction[];
  /** Why there may be others. */
  readonly unknown: Unread | undefined;
}

export interface ReturnedAction {
  readonly action: string;
  /** The literals or types; for the default action the hook, or nothing if the class has no hook. */
  readonly ranges: readonly SourceRange[];
  /** The keys of the shared state that are certain to be written before the node returns this action. */
  readonly written: readonly string[];
}

export interface KeyAccess {
  /** The first key, directly in the shared state. */
  readonly key: string;
  /** The keys up to the first that is not a literal: `['user', 'name']`. */
  readonly path: readonly string[];
  readonly hook: 'prep' | 'post';
  /** The first key in the source. */
  readonly range: SourceRange;
  /** A read that expects that the key may be missing: `shared.x ?? y`, `shared.x === undefined`, a default. */
  readonly isGuarded: boolean;
  /** A read of what the same node has already written on every path. */
  readonly isOwn: boolean;
}

export interface FlowEdge {
  /** `source:action`, unique in its flow. */
  readonly id: string;
  readonly source: string;
  /** Null if the flow explicitly ends here. */
  readonly target: string | null;
  readonly action: string;
  /** From `connect` to the end of its arguments; in a loop or helper the same for several edges. */
  readonly range: SourceRange;
  /** The literal of the action; undefined if it is omitted. */
  readonly actionRange: SourceRange | undefined;
}

export interface ReplacedEdge {
  readonly source: string;
  readonly action: string;
  readonly range: SourceRange;
  /** The connection that replaces it. */
  readonly by: SourceRange;
}

interface FlowRun {
  readonly range: SourceRange;
  /** The keys of the initial shared state; undefined if they are unknown. */
  readonly keys: readonly string[] | undefined;
  /** The values of these keys that are plain data in the source. */
  readonly values: readonly (readonly [key: string, value: unknown])[];
}

export interface ModelUse {
  readonly range: SourceRange;
  readonly provider: { readonly value: string; readonly range: SourceRange } | undefined;
  readonly model: { readonly value: string; readonly range: SourceRange } | undefined;
  /** Whether a baseUrl is set, which may serve any model. */
  readonly hasBaseUrl: boolean;
}

/** A change to one range of a file. */
export interface TextEdit {
  readonly range: SourceRange;
  readonly text: string;
}
