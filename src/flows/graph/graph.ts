/**
 * The graph of a flow as it is read from the source: plain data, so that it crosses to a webview or a worker as it is.
 * Nothing here is an ordinal: ids come from the names in the source and stay when text above is edited.
 */

/** A place in a text: UTF-16 offset, line and column, all from 0, as editors count. */
export interface Position {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/** A stretch of a file, without its end. */
export interface SourceRange {
  /** The path as it was given to the reader, or as a relative import led to it. */
  readonly file: string;
  readonly start: Position;
  readonly end: Position;
}

/** Something that cannot be known without running the code. */
export interface Unread {
  readonly range: SourceRange;
  /** A sentence for people: what stands there, and why it cannot be known. */
  readonly reason: string;
}

export interface SyntaxProblem {
  readonly message: string;
  readonly range: SourceRange;
}

/** All flows of one file, with what their readers need to explain them. */
export interface FlowFile {
  readonly file: string;
  /** The flows that the file makes, in the order of the source, then those of other files that are nested in them. */
  readonly flows: readonly FlowGraph[];
  /** Constructs that hide a part of a flow. */
  readonly unread: readonly Unread[];
  /** Uses of LLMClient, for checks of provider and model. */
  readonly models: readonly ModelUse[];
  /** Present while the text does not parse. */
  readonly syntaxError: SyntaxProblem | undefined;
  /** Whether the flows are those of the last text that did parse; their ranges are that text's. */
  readonly isStale: boolean;
  /** The other files that were read; a change in one of them may change this result. */
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
  /** The expression that makes the flow, with the calls chained to it. */
  readonly range: SourceRange;
  /** The id of the first node; undefined where there is none, or it cannot be known. */
  readonly start: string | undefined;
  /** In the order in which the flow gets to know them, which decides their labels. */
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  /** Calls of `run` on the flow. */
  readonly runs: readonly FlowRun[];
  /** What hides a part of this very flow; empty where the graph is exact. */
  readonly unread: readonly Unread[];
}

export type NodeType = 'node' | 'batch' | 'parallel' | 'flow' | 'rag' | 'unknown';

export interface FlowNode {
  /** Unique in its flow: the variable or property path that holds the node, or `new Work` for one made in place. */
  readonly id: string;
  /** What trace events call the node in this flow: its name, with `~2` for the second node of that name. */
  readonly label: string;
  readonly className: string;
  readonly type: NodeType;
  /** The first sentence of the comment above the instance, or else above its class. */
  readonly summary: string | undefined;
  readonly ranges: NodeRanges;
  readonly actions: NodeActions;
  readonly reads: readonly KeyAccess[];
  readonly writes: readonly KeyAccess[];
  /** Uses of the shared state whose keys cannot be known. */
  readonly unreadKeys: readonly Unread[];
  /** The id of the graph in the same FlowFile, where the node is a flow that could be read. */
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
  /** Where: the literal or type; for an action by omission the hook, and nothing where no hook is written. */
  readonly ranges: readonly SourceRange[];
  /** The keys of the shared state that are certainly written before the node is left by this action. */
  readonly written: readonly string[];
}

export interface KeyAccess {
  /** The first key, which the shared state itself has. */
  readonly key: string;
  /** All keys as far as they are literal: `['user', 'name']`. */
  readonly path: readonly string[];
  readonly hook: 'prep' | 'post';
  /** The first key in the source. */
  readonly range: SourceRange;
  /** A read that is ready for nothing being there: `shared.x ?? y`, `shared.x === undefined`, a default. */
  readonly isGuarded: boolean;
  /** A read of what the same node wrote before on every way to here. */
  readonly isOwn: boolean;
}

export interface FlowEdge {
  /** `source:action`, unique in its flow. */
  readonly id: string;
  readonly source: string;
  /** Null: the flow was told to end here. */
  readonly target: string | null;
  readonly action: string;
  /** From `connect` to the end of its arguments; in a loop or helper the same for several edges. */
  readonly range: SourceRange;
  /** The literal of the action; undefined where it is left out. */
  readonly actionRange: SourceRange | undefined;
}

interface FlowRun {
  readonly range: SourceRange;
  /** The keys of the shared state that the run begins with; undefined where they cannot be known. */
  readonly keys: readonly string[] | undefined;
}

export interface ModelUse {
  readonly range: SourceRange;
  readonly provider: { readonly value: string; readonly range: SourceRange } | undefined;
  readonly model: { readonly value: string; readonly range: SourceRange } | undefined;
  /** Whether an address of its own is given, behind which any model may be. */
  readonly hasBaseUrl: boolean;
}

/** A change of one stretch of a file. */
export interface TextEdit {
  readonly range: SourceRange;
  readonly text: string;
}
