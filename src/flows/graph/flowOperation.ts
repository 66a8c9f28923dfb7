/** A change to a flow as people think of it. It becomes the smallest edit of the source that makes it. */
export type FlowOperation = AddNode | Connect | RenameAction | DeleteEdge | DeleteNode | SetStart | ExtractFlow;

interface InFlow {
  /** The id of the FlowGraph. */
  readonly flow: string;
}

/** Writes a class for a new node, an instance of it, and the connection that leads to it. */
interface AddNode extends InFlow {
  readonly type: 'addNode';
  readonly className: string;
  /** The connection to make; without one, the node becomes the start of a flow that has no start. */
  readonly from: { readonly node: string; readonly action: string } | undefined;
}

/** Adds a connection, or redirects the existing one for this action. */
interface Connect extends InFlow {
  readonly type: 'connect';
  readonly source: string;
  /** Null ends the flow. */
  readonly target: string | null;
  readonly action: string;
}

/** Renames an action that a node returns: where `post` returns it and where it is connected. */
interface RenameAction extends InFlow {
  readonly type: 'renameAction';
  readonly source: string;
  readonly action: string;
  readonly newAction: string;
}

interface DeleteEdge extends InFlow {
  readonly type: 'deleteEdge';
  /** The id of the FlowEdge. */
  readonly edge: string;
}

/** Removes a node and its connections from the flow. */
interface DeleteNode extends InFlow {
  readonly type: 'deleteNode';
  readonly node: string;
}

interface SetStart extends InFlow {
  readonly type: 'setStart';
  readonly node: string;
}

/** Moves nodes into a new flow, which replaces them. */
interface ExtractFlow extends InFlow {
  readonly type: 'extractFlow';
  readonly nodes: readonly string[];
  readonly name: string;
}
