import type { FlowEdge, FlowGraph } from '../graph/graph.ts';
import { quotedIn } from '../syntax/sourceStyle.ts';
import { readFlows } from '../project/flowProject.ts';
import type { FileHost } from '../project/parsedFiles.ts';
import type { FindFile } from '../reading/modules.ts';
import { type Edit, edited } from '../syntax/edits.ts';

/**
 * In a converted file, the nodes that end a flow end it with the actions that they return, as far as this file and those that it imports
 * show them.
 */
export function withEndingActions(path: string, text: string, quote: string, find: FindFile): string {
  const edits = new Map<number, Edit>();
  for (const flow of readFlows(path, text, convertedFiles(find)).flows) {
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

/** Other files, as far as their classes are needed: as if they were converted. */
function convertedFiles(find: FindFile): FileHost {
  return {
    version: (file) => find([file])?.text,
    read: (file) => find([file])?.text.replaceAll(/(?<=(['"]))pocketflow(?=\1)/g, 'farwharf/agents'),
  };
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
