import type { FlowEdge, FlowGraph } from '../graph/graph.ts';
import { quotedIn } from '../syntax/sourceStyle.ts';
import { readFlows } from '../project/flowProject.ts';
import { type Edit, edited } from '../syntax/edits.ts';

const NO_OTHER_FILES = { read: () => undefined, version: () => undefined };

/** In a converted file, the nodes that end a flow end it with the actions that they return, as far as the file shows them. */
export function withEndingActions(path: string, text: string, quote: string): string {
  const edits = new Map<number, Edit>();
  for (const flow of readFlows(path, text, NO_OTHER_FILES).flows) {
    for (const edge of flow.edges) {
      const actions = isEnding(flow, edge) ? actionsOf(flow, edge.source) : [];
      const { start, end } = edge.range;
      if (actions.length > 0) {
        edits.set(start.offset, {
          start: start.offset,
          end: end.offset,
          text: endings(text, start.offset, end.offset, { actions, quote }),
        });
      }
    }
  }
  return edited(text, [...edits.values()]);
}

/** Whether a node's only connection is an end without an action, as the conversion writes it. */
function isEnding({ edges }: FlowGraph, { source, target, actionRange }: FlowEdge): boolean {
  return target === null && actionRange === undefined && edges.filter((edge) => edge.source === source).length === 1;
}

/** What a node returns; nothing if that is only the default action, or unknown. */
function actionsOf({ nodes }: FlowGraph, id: string): readonly string[] {
  const { known = [], unknown } = nodes.find((node) => node.id === id)?.actions ?? {};
  const actions = known.map(({ action }) => action);
  return unknown !== undefined || (actions.length === 1 && actions[0] === 'default') ? [] : actions;
}

function endings(
  text: string,
  start: number,
  end: number,
  { actions, quote }: { readonly actions: readonly string[]; readonly quote: string },
): string {
  const call = text.slice(start, end - 1);
  const separator = /\s*\.$/.exec(text.slice(0, start))?.[0] ?? '.';
  return actions
    .map((action) => (action === 'default' ? `${call})` : `${call}, ${quotedIn(quote, action)})`))
    .join(separator);
}
