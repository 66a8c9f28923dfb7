import type { FlowOperation } from '../graph/flowOperation.ts';
import type { SourceRange, TextEdit } from '../graph/graph.ts';
import { DEFAULT_ACTION } from '../../agents/graph/unit.ts';
import type { ReadFlow } from '../reading/graphBuilder.ts';
import { quotedIn } from '../syntax/sourceStyle.ts';
import { refuse } from './sourceMap.ts';

type Rename = Pick<Extract<FlowOperation, { type: 'renameAction' }>, 'source' | 'action' | 'newAction'>;

/** A node with an action that gets a new name. */
export interface RenamedExit {
  readonly flow: string;
  readonly node: string;
}

/**
 * Renames an action everywhere: where `post` returns it, in its type, where it is connected, and in all nodes that share one of
 * these positions, such as instances of the same class or flows that end with the node.
 *
 * @param textOf returns the text of a file.
 */
export function renameAction(
  flows: readonly ReadFlow[],
  flow: ReadFlow,
  { source: node, action, newAction }: Rename,
  textOf: (file: string) => string,
): { readonly edits: TextEdit[]; readonly exits: RenamedExit[] } {
  const name = newAction || DEFAULT_ACTION;
  const places = new Map<string, SourceRange>();
  const exits = new Map<string, RenamedExit>();
  const add = (range: SourceRange): boolean => {
    const key = `${range.file} ${range.start.offset}`;
    const isNew = !places.has(key);
    places.set(key, range);
    return isNew;
  };
  const addExit = ({ graph }: ReadFlow, id: string): boolean => {
    const key = `${graph.id} ${id}`;
    const exit = graph.nodes.find((one) => one.id === id);
    if (exit === undefined) return refuse(`The flow no longer has a node "${id}".`);
    let hasGrown = !exits.has(key);
    exits.set(key, { flow: graph.id, node: id });
    if (exit.actions.known.some((exitAction) => exitAction.action === name)) {
      refuse(`"${id}" already returns the action "${name}". Choose another name.`);
    }
    for (const { range, source, action: taken } of graph.edges) {
      if (source === id && taken === name) {
        refuse(`"${id}" already has a connection for "${name}" in line ${range.start.line + 1}. Choose another name.`);
      }
    }
    const returned = exit.actions.known.find((each) => each.action === action);
    for (const range of returned?.ranges ?? []) hasGrown = add(range) || hasGrown;
    for (const edge of graph.edges) {
      if (edge.source !== id || edge.action !== action) continue;
      if (edge.actionRange === undefined)
        refuse(`The connection of "${id}" for "${action}" does not write the action. Write it in the source first.`);
      hasGrown = add(edge.actionRange) || hasGrown;
    }
    return hasGrown;
  };
  addExit(flow, node);
  // Positions lead to more nodes, and those to more positions, until nothing new is found.
  for (let hasGrown = true; hasGrown; ) {
    hasGrown = false;
    for (const other of flows) {
      for (const { id } of other.graph.nodes) {
        if (sharesPlace(other, id, action, places)) hasGrown = addExit(other, id) || hasGrown;
      }
    }
  }
  if (places.size === 0)
    refuse(`The source of "${node}" does not write the action "${action}". Return it in post first.`);
  const edits = [...places.values()].map((range) => renamed(range, action, name, textOf(range.file)));
  return { edits, exits: [...exits.values()] };
}

function sharesPlace(
  { graph }: ReadFlow,
  id: string,
  action: string,
  places: ReadonlyMap<string, SourceRange>,
): boolean {
  const node = graph.nodes.find((one) => one.id === id);
  const returned = node?.actions.known.find((nodeAction) => nodeAction.action === action)?.ranges ?? [];
  const connected = graph.edges.filter((edge) => edge.source === id && edge.action === action);
  const all = [...returned, ...connected.flatMap(({ actionRange }) => actionRange ?? [])];
  return all.some(({ file, start }) => places.has(`${file} ${start.offset}`));
}

/** The edit of one literal, which keeps its quotes. */
function renamed(range: SourceRange, action: string, name: string, text: string): TextEdit {
  const written = text.slice(range.start.offset, range.end.offset);
  const [quote = ''] = written;
  const isPlain = /^['"`]$/.test(quote) && written === `${quote}${action}${quote}`;
  if (!isPlain) {
    const place = `in line ${range.start.line + 1} of ${range.file}`;
    return refuse(
      `The action "${action}" comes from \`${written.slice(0, 60)}\` ${place}, which is not a plain string. Rename it there.`,
    );
  }
  return { range, text: quotedIn(quote, name) };
}
