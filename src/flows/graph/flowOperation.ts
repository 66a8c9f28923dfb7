import * as z from 'zod';

const name = z.string().max(1_000);
/** The id of the FlowGraph. */
const flow = name;

/**
 * A change to a flow as people think of it. It becomes the smallest edit of the source that makes it. The canvas sends it, so it
 * is checked like any external input.
 */
export const flowOperation = z.discriminatedUnion('type', [
  /**
   * Writes a class for a new node, an instance of it, and the connection `from` that leads to it; without one, the node becomes
   * the start of a flow that has no start.
   */
  z.object({
    type: z.literal('addNode'),
    flow,
    className: name,
    from: z.object({ node: name, action: name }).optional(),
  }),
  /** Adds a connection, or redirects the existing one for this action. The target null ends the flow. */
  z.object({ type: z.literal('connect'), flow, source: name, target: name.nullable(), action: name }),
  /** Renames an action that a node returns: where `post` returns it and where it is connected. */
  z.object({ type: z.literal('renameAction'), flow, source: name, action: name, newAction: name }),
  /** `edge` is the id of the FlowEdge. */
  z.object({ type: z.literal('deleteEdge'), flow, edge: z.string().max(3_000) }),
  /** Removes a node and its connections from the flow. */
  z.object({ type: z.literal('deleteNode'), flow, node: name }),
  z.object({ type: z.literal('setStart'), flow, node: name }),
  /** Moves nodes into a new flow, which replaces them. */
  z.object({ type: z.literal('extractFlow'), flow, nodes: z.array(name).max(10_000).readonly(), name }),
]);

export type FlowOperation = z.infer<typeof flowOperation>;
